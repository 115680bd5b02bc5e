"""Git repositories: what a server may send is untrusted, so a process of its own unpacks it.

Everything but `fetching.update` and `listing` runs there only: no Django, no database.
"""
