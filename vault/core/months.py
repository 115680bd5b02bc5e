"""Names of months, as notes and questions write them."""

from __future__ import annotations

# A paragraph a month: languages with their cases, and short forms that are no other word.
_NAMES = """
january jan januar jänner januari janvier enero gennaio janeiro январь января январе січень
січня січні styczeń stycznia styczniu leden ledna lednu tammikuu tammikuuta január ianuarie ocak
ιανουάριος ιανουαρίου ιανουάριο януари јануар يناير ינואר जनवरी มกราคม

february feb februar februari février febrero febbraio fevereiro февраль февраля феврале лютий
лютого лютому luty lutego lutym únor února únoru helmikuu helmikuuta február februarie şubat
φεβρουάριος φεβρουαρίου φεβρουάριο февруари фебруар فبراير פברואר फरवरी กุมภาพันธ์

march mar märz maart mars marts marzo março март марта марте березень березня березні marzec
marca marcu březen března březnu maaliskuu maaliskuuta március martie mart maret μάρτιος μαρτίου
μάρτιο مارس מרץ मार्च มีนาคม

april apr avril abril aprile апрель апреля апреле квітень квітня квітні kwiecień kwietnia
kwietniu duben dubna dubnu huhtikuu huhtikuuta április aprilie nisan απρίλιος απριλίου απρίλιο
април أبريل ابريل אפריל अप्रैल เมษายน

may mai mei maj mayo maggio maio май мая мае травень травня травні maja maju květen května
květnu toukokuu toukokuuta május mayıs μάιος μαΐου μάιο مايو מאי मई พฤษภาคม

june jun juni juin junio giugno junho июнь июня июне червень червня червні czerwiec czerwca
czerwcu červen června červnu kesäkuu kesäkuuta június iunie haziran ιούνιος ιουνίου ιούνιο юни
јун يونيو יוני जून มิถุนายน

july jul juli juillet julio luglio julho июль июля июле липень липня липні lipiec lipca lipcu
červenec července červenci heinäkuu heinäkuuta július iulie temmuz ιούλιος ιουλίου ιούλιο юли
јул يوليو יולי जुलाई กรกฎาคม

august aug augustus augusti août agosto август августа августе серпень серпня серпні sierpień
sierpnia sierpniu srpen srpna srpnu elokuu elokuuta augusztus ağustos agustus αύγουστος
αυγούστου αύγουστο أغسطس اغسطس אוגוסט अगस्त สิงหาคม

september sep sept septembre septiembre settembre setembro сентябрь сентября сентябре вересень
вересня вересні wrzesień września wrześniu září syyskuu syyskuuta szeptember septembrie eylül
σεπτέμβριος σεπτεμβρίου σεπτέμβριο септември септембар سبتمبر ספטמבר सितंबर กันยายน

october oct oktober okt octobre octubre ottobre outubro октябрь октября октябре жовтень жовтня
жовтні październik października październiku říjen října říjnu lokakuu lokakuuta október
octombrie ekim οκτώβριος οκτωβρίου οκτώβριο октомври октобар أكتوبر اكتوبر אוקטובר अक्टूबर
ตุลาคม

november nov novembre noviembre novembro ноябрь ноября ноябре листопад листопада листопаді
listopad listopada listopadzie listopadu marraskuu marraskuuta noiembrie kasım νοέμβριος
νοεμβρίου νοέμβριο ноември новембар نوفمبر נובמבר नवंबर พฤศจิกายน

december dec dezember dez desember décembre diciembre dicembre dezembro декабрь декабря декабре
грудень грудня грудні grudzień grudnia grudniu prosinec prosince prosinci joulukuu joulukuuta
decembrie aralık δεκέμβριος δεκεμβρίου δεκέμβριο декември децембар ديسمبر דצמבר दिसंबर ธันวาคม
"""
MONTH_OF = {
    name.casefold(): number
    for number, names in enumerate(_NAMES.split("\n\n"), 1)
    for name in names.split()
}
"""The number of a month by its name, casefolded."""
