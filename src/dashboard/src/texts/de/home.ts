import type { texts as english } from '../en/home.ts'

export const texts: typeof english = {
  title: 'Übersicht',
  allWell: 'Alles in Ordnung',
  needsAttention: 'Braucht Aufmerksamkeit',
  look: 'Ansehen',
  now: 'Jetzt',
  lastMinute: 'in der letzten Minute',
  requests: 'Anfragen',
  accepted: 'Angenommen',
  byOutcome: 'Antworten der letzten Minute nach Ergebnis',
  outcomes: {
    done: 'Erledigt',
    warned: 'Warnungen',
    queued: 'Eingereiht',
    refused: 'Abgelehnt',
    limited: 'Gebremst',
    failed: 'Fehlgeschlagen',
  },
  toOperations: 'Betrieb öffnen',
  toSettings: 'Einstellungen öffnen',
  latency: 'Antwortzeit',
  p95: '95 von 100 sind schneller',
  ms: (value) => `${value} ms`,
  seconds: (value) => `${value} s`,
  backlog: 'Wartet auf Verarbeitung',
  backlogNote: 'die älteste Anfrage',
  timeline: 'Rückstand der Zeitleiste',
  timelineNote: 'für Diagramme und Statistik',
  deadLetters: 'Fehlgeschlagene Anfragen',
  deadLettersNote: 'nicht anwendbar',
  today: 'Heute',
  yesterday: 'Gestern',
  newContacts: 'Neue Kontakte',
  events: 'Ereignisse',
  revenue: (currency) => `Umsatz in ${currency}`,
  eventsByDay: 'Ereignisse pro Tag',
  contactsByDay: 'Neue Kontakte pro Tag',
  revenueByDay: (currency) => `Umsatz pro Tag in ${currency}, abzüglich Erstattungen`,
  attention: {
    notReady:
      'Anfragen werden im Moment nicht angenommen oder nicht verarbeitet. Ein Betreiber muss sich darum kümmern.',
    backlog: 'Anfragen warten länger als 30 Sekunden auf ihre Verarbeitung. Nichts geht verloren.',
    lateStores: {
      redis: 'Redis antwortet zu spät: Aufrufe sind langsam.',
      postgres: 'Postgres antwortet zu spät: Aufrufe und Seiten sind langsam.',
      clickhouse:
        'ClickHouse antwortet zu spät: Diagramme und Vorschauen können fehlschlagen, und Zahlen kommen verspätet. Nichts geht verloren.',
    },
    timeline: 'Diagramme, Statistik und Zeitleisten sind mehr als 30 Sekunden im Rückstand. Nichts geht verloren.',
    deadLetters: (count) =>
      count === '1'
        ? '1 Anfrage konnte nicht verarbeitet werden. Ein Betreiber kann sie erneut senden.'
        : `${count} Anfragen konnten nicht verarbeitet werden. Ein Betreiber kann sie erneut senden.`,
    failedDeliveries: (count) =>
      count === '1'
        ? '1 Conversion konnte nicht zugestellt werden.'
        : `${count} Conversions konnten nicht zugestellt werden.`,
    pausedChannels:
      'Zu viele Nachrichten wurden wegen des Absenders abgewiesen. Ein Kanal ist angehalten: siehe Einstellungen.',
    refused: 'Mehr als jede zehnte Anfrage der letzten Minute wurde nicht angenommen.',
  },
  firstSteps: 'Erste Schritte',
  firstStepsIntro: 'Es gibt noch keine Kontakte. Das erste Ereignis legt einen an.',
  stepKey: 'Einen API-Schlüssel erstellen',
  stepEvent: 'Ein Ereignis von Ihrem Server oder aus einem Terminal senden:',
  stepPage: 'Das Snippet in Ihre Seiten einbauen',
  loadDemo: 'Demodaten laden',
  demoHint:
    'Fügt 300 Personen einer Sprachschule und deren Ereignisse aus 60 Tagen hinzu. Nur solange es keine anderen Kontakte gibt.',
  demoLoaded: (contacts, events) => `${contacts} Kontakte und ${events} Ereignisse sind geladen.`,
}
