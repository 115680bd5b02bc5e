/* One connection that keeps itself alive: back-off, heart-beat, and why it cannot come back. */

const FIRST_WAIT = 400;
const LONGEST_WAIT = 10000;
const HEARTBEAT = 20000;
const SAY_SOMETHING_AFTER = 200000; // characters: the server gives up on a reader it hears nothing of
const FINAL = { 4401: "signed-out" };

/** Milliseconds before the `attempt`-th new try (from 0), with a fifth of spread. */
export function backoff(attempt, random = Math.random) {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt) * (0.8 + 0.4 * random());
}

export class ChatSocket {
  /** `onFrame(frame)` for what arrives; `onState("open" | "lost" | "signed-out")`. */
  constructor(path, { onFrame, onState }) {
    const url = `${location.origin.replace("http", "ws")}${path}`;
    Object.assign(this, { url, onFrame, onState, attempt: 0, over: false, unanswered: 0 });
    this.wake = ({ type }) => {
      if (type === "offline") this.socket.close(); // it looks open for a minute
      else if (!document.hidden && !this.isOpen && !this.over) this.connect();
    };
    addEventListener("online", this.wake);
    addEventListener("offline", this.wake);
    document.addEventListener("visibilitychange", this.wake);
    this.connect();
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    if (this.socket?.readyState === WebSocket.CONNECTING) return;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.attempt = 0;
      this.heard = Date.now();
      this.pulse = setInterval(() => this.beat(socket), HEARTBEAT);
      this.onState("open");
    };
    socket.onmessage = (message) => {
      this.heard = Date.now();
      this.unanswered += message.data.length;
      if (this.unanswered > SAY_SOMETHING_AFTER) this.send({ type: "ping" });
      this.onFrame(JSON.parse(message.data));
    };
    socket.onclose = (event) => { if (socket === this.socket) this.lost(event.code); };
  }

  /** A connection that says nothing to two pings is dead, whatever the browser believes. */
  beat(socket) {
    if (Date.now() - this.heard > 2.5 * HEARTBEAT) socket.close();
    else this.send({ type: "ping" });
  }

  lost(code) {
    clearInterval(this.pulse);
    if (this.over) return;
    this.onState(FINAL[code] ?? "lost");
    if (FINAL[code]) return;
    this.timer = setTimeout(() => this.connect(), backoff(this.attempt));
    this.attempt += 1;
  }

  /** False when nothing could be sent: the caller still holds it. */
  send(frame) {
    if (!this.isOpen) return false;
    this.unanswered = 0;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  close() {
    this.over = true;
    clearTimeout(this.timer);
    clearInterval(this.pulse);
    removeEventListener("online", this.wake);
    removeEventListener("offline", this.wake);
    document.removeEventListener("visibilitychange", this.wake);
    this.socket.close();
  }
}
