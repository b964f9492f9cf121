import type { texts as english } from '../en/web.ts'

export const texts: typeof english = {
  live: 'Besucher jetzt',
  liveNote: 'in den letzten 5 Minuten aktiv',
  traffic: 'Besuche im Zeitverlauf',
  start: 'Beginn',
  figures: {
    visitors: 'Besucher',
    sessions: 'Sitzungen',
    pageViews: 'Seitenaufrufe',
    depth: 'Scrolltiefe',
    sessionSeconds: 'Zeit je Sitzung',
    bounceRate: 'Absprungrate',
  },
  units: {
    visitors: 'Besucher',
    sessions: 'Sitzungen',
    pageViews: 'Seitenaufrufe',
    views: 'Seitenaufrufe',
    entries: 'Einstiege',
    exits: 'Ausstiege',
    depth: 'Scrolltiefe in Prozent',
    seconds: 'Sekunden je Aufruf',
    sessionSeconds: 'Sekunden je Sitzung',
    bounceRate: 'Absprungrate, 0 bis 1',
  },
  noTrafficTitle: 'Keine Besuche in diesem Zeitraum',
  noTraffic:
    'Wählen Sie einen längeren Zeitraum. Wenn Ihre Seiten noch keine Besuche melden, bauen Sie dort das Snippet ein.',
  addSnippet: 'Snippet zeigen',

  pages: 'Seiten',
  pagesIntro: 'Die meistaufgerufenen zuerst. Einstiege und Ausstiege sind Sitzungen, die dort begannen oder endeten.',
  page: 'Seite',
  columns: {
    views: 'Aufrufe',
    visitors: 'Besucher',
    entries: 'Einstiege',
    exits: 'Ausstiege',
    seconds: 'Zeit',
    depth: 'Tiefe',
  },
  noPages: 'In diesem Zeitraum wurde keine Seite aufgerufen',

  sources: 'Herkunft der Sitzungen',
  listBy: 'Auflisten nach',
  by: { source: 'Quelle', campaign: 'Kampagne', referrer: 'Verweis' },
  without: { source: 'Direkt oder unbekannt', campaign: 'Ohne Kampagne', referrer: 'Ohne Verweis' },
  noSessions: 'In diesem Zeitraum begann keine Sitzung',
}
