import type { IMPORT_FAULTS } from '../../../../../rules/faults/imports.ts'
import type { TextsOf } from '../../error-texts.ts'

export const imports: TextsOf<typeof IMPORT_FAULTS> = {
  amount: 'Muss eine Zahl von 0 bis {max} mit höchstens 4 Dezimalstellen sein',
  item_for_each_row: 'Braucht einen Eintrag für jede Zeile',
  no_field: 'Das Feld „{name}“ gibt es nicht',
  amount_two_ways: '„{sent}“ lässt sich auf zwei Arten lesen: Schreiben Sie kein Zeichen zwischen die Tausender',
  same_spend: 'Hat Tag, Kanal, Quelle, Kampagne und Währung der Zeile spend.{row}',
  mapping: 'Es fehlt die Zuordnung von {fields}',
  rows_up_to: 'Hat mehr als {max} Zeilen',
  column_or_value: 'Eine Spalte oder ein Wert ist erforderlich',
  cell_number: '„{sent}“ ist keine einfache Zahl wie 1234.50',
  cell_two_ways: '„{sent}“ lässt sich auf zwei Arten lesen. Wählen Sie das Dezimalzeichen, oder schreiben Sie 1234.50',
  cell_long: 'Hat mehr als {max} Zeichen',
  cell_no_time: 'Der Zeitpunkt fehlt. Tragen Sie ihn ein, oder lassen Sie Zeilen ohne Zeitpunkt weg',
  cell_rounded:
    '„{sent}“ sieht nach einer Zahl aus, die eine Tabellenkalkulation gerundet hat. Formatieren Sie die Spalte als Text, geben Sie die ganze Zahl ein, und speichern Sie die Datei neu',
  cell_boolean: '„{sent}“ ist weder true noch false',
  cell_choice:
    '„{sent}“ ist weder das Datum einer Einwilligung noch eines dieser Wörter: {yes} (Einwilligung); {no} (Widerspruch); {none} (keine Wahl)',
  cell_epoch:
    '„{sent}“ liegt als Millisekunden seit 1970 vor 1990 oder nach 2286. Sekunden mal 1000 nehmen; Daten als 2024-01-31T12:00:00 schreiben',
  cell_skipped: '„{sent}“ gibt es in {zone} nicht, weil die Uhren vorgestellt wurden',
  cell_date: '„{sent}“ ist kein Datum',
  row_cells: 'Die Zeile hat {cells} Zellen, die Kopfzeile hat {columns}',
  row_object: 'Die Zeile ist kein JSON-Objekt',
  row_visitor: 'visitorId ist in einem Import nicht erlaubt',
  row_business: 'Die Zeile gehört zu einem anderen Unternehmen als dieser Import ({business})',
  opt_in_object: 'optIn muss ein Objekt mit Kanälen sein',
  opt_in_channel: 'Diesen Kanal gibt es nicht',
  opt_in_date: 'Ja und Nein brauchen occurredAt, den Tag der Wahl',
  file_twice: 'Die Datei hat zwei Spalten namens „{name}“. Benennen Sie eine davon um',
  file_cells: 'Zeile {row} hat mehr als {max} Zellen (die Kopfzeile ist Zeile 0)',
  file_cell:
    'Eine Zelle der Zeile {row} hat mehr als {max} Zeichen (die Kopfzeile ist Zeile 0). Vielleicht fehlt ein Anführungszeichen',
  file_row:
    'Zeile {row} hat mehr als {max} Zeichen (die Kopfzeile ist Zeile 0). Vielleicht fehlt ein Anführungszeichen',
  file_columns: 'Die Datei hat mehr als {max} Spalten',
  file_rows: 'Die Datei hat mehr als {max} Zeilen. Teilen Sie sie',
  file_without: 'In der ersten Zeile fehlen diese Spalten: {columns}',
  file_same_field: 'Die Spalten „{name}“ und „{another}“ enthalten beide {field}. Lassen Sie eine weg',
  file_csv: 'Die Datei lässt sich nicht als CSV lesen: {reason}',
  future: 'Darf nicht in der Zukunft liegen',
  item_kept: 'Interner Fehler: Der Betreiber hat die Zeile und kann sie nachtragen',
  item_again: 'Nicht gespeichert, weil der Dienst ausgelastet ist: Senden Sie die Zeile noch einmal',
  item_inactive: 'Das Unternehmen ist nicht aktiv',
  item_erased: 'Der Kontakt wurde inzwischen gelöscht',
}
