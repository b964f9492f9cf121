import type { texts as english } from '../en/sql.ts'

export const texts: typeof english = {
  title: 'SQL',
  limits: (seconds, megabytes, rows) =>
    `SELECT auf den Daten dieses Unternehmens. Grenzen: ${seconds} Sekunden, ${megabytes} MiB Speicher, ${rows} Zeilen.`,
  statement: 'SQL-Anweisung',
  parameters: 'Parameter',
  run: 'Ausführen',
  running: 'Die Anweisung läuft.',
  save: 'Speichern…',
  saveTitle: 'Abfrage speichern',
  saveAsNew: 'Als neue Abfrage speichern',
  name: 'Name',
  shared: 'Alle in diesem Unternehmen, die SQL ausführen dürfen, sehen sie.',
  saved: 'Gespeicherte Abfragen',
  noSaved: 'Noch keine.',
  deleteQuery: (name) => `„${name}“ löschen`,
  deleteTitle: 'Abfrage löschen',
  deleteText: (name) => `„${name}“ ist dann für alle weg.`,
  examples: 'Beispiele',
  views: 'Sichten',
  result: 'Ergebnis',
  rows: (count, exact) => (exact === 1 ? '1 Zeile' : `${count} Zeilen`),
  took: (seconds) => `${seconds} s`,
  cut: 'Es gibt mehr Zeilen: Das sind nicht alle.',
  none: 'Keine Zeilen',
  chart: 'Diagramm',
  csv: 'CSV',
  refused: 'ClickHouse nimmt die Anweisung nicht an',
  tooSlow: (seconds) =>
    `Die Anweisung dauerte länger als ${seconds} Sekunden. Wählen Sie einen kürzeren Zeitraum oder weniger Spalten.`,
  tooMuchMemory:
    'Die Anweisung brauchte zu viel Speicher. Gruppieren Sie nach weniger Werten oder wählen Sie einen kürzeren Zeitraum.',
  busy: 'Es laufen schon zwei Anweisungen dieses Unternehmens. Versuchen Sie es gleich noch einmal.',
  notSetUp: {
    text: 'Mit einem eigenen ClickHouse braucht diese Seite ANALYST_PASSWORD und in CLICKHOUSE_URL einen Benutzer, der Benutzer anlegen darf.',
    remedies: { operator: 'Setzen Sie beides, und starten Sie Sluice neu.', member: 'Fragen Sie Ihren Betreiber.' },
  },
}
