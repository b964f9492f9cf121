import type { RULE_FAULTS } from '../../../../../rules/faults/segments.ts'
import type { TextsOf } from '../../error-texts.ts'

export const segments: TextsOf<typeof RULE_FAULTS> = {
  condition: 'Muss eine Gruppe oder eine Bedingung sein',
  one_kind: 'Muss genau eines dieser Wörter haben: {words}',
  rule_levels: 'Liegt auf Ebene {level}: Eine Regel hat höchstens {max} Ebenen',
  group: 'Muss eine Liste von 1 bis {max} Regeln sein',
  rule_conditions: 'Ist eine Bedingung zu viel: Eine Regel hat höchstens {max}',
  json_size: 'Darf höchstens 32 KiB JSON sein',
  where: 'Höchstens {max} Bedingungen an Eigenschaften',
  where_item: 'Muss ein Objekt mit property, operator und value sein',
  real_instant: 'Muss ein Datum oder ein Zeitpunkt nach ISO 8601 sein, den es gibt',
  plain_number: 'Muss eine Zahl sein',
  decimal: 'Muss eine Zahl oder eine Dezimalzahl als Text sein',
  days: 'Muss eine Anzahl von Tagen sein, über 0 und höchstens {max}',
  range: 'Muss aus zwei Zahlen bestehen: von und bis',
  decimal_range: 'Muss aus zwei Zahlen bestehen, auch als Text: von und bis',
  lesser_first: 'Die kleinere Zahl muss zuerst stehen',
  texts: 'Muss eine Liste von 1 bis {max} Texten sein',
  not_a_segment: 'Dieses Segment gibt es nicht',
  leads_to_itself: 'Führt zum Segment selbst zurück',
  nesting: 'Ist über mehr als {max} Segmente verschachtelt',
  conditions_with_named: 'Hat mit denen der genannten Segmente mehr als {max} Bedingungen',
  size_with_named: 'Ist mit den Regeln der genannten Segmente länger als {max} Zeichen',
  outer_nesting: 'Das Segment {segment}, das dieses nennt, wäre dann über mehr als {max} Segmente verschachtelt',
  outer_conditions: 'Das Segment {segment}, das dieses nennt, hätte dann mehr als {max} Bedingungen',
  outer_size: 'Die Regel des Segments {segment}, das dieses nennt, wäre dann länger als {max} Zeichen',
}
