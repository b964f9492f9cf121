import type { REFUSALS } from '../../../../../rules/faults/refusals.ts'
import type { TextsOf } from '../../error-texts.ts'

export const refusals: TextsOf<typeof REFUSALS> = {
  body_up_to: 'Der Inhalt der Anfrage ist zu groß: höchstens {max} Bytes.',
  sql_not_set_up:
    'Mit einem eigenen ClickHouse braucht SQL ANALYST_PASSWORD und in CLICKHOUSE_URL einen Benutzer, der Benutzer anlegen darf. Fragen Sie den Betreiber.',
  keys_full: 'Das Unternehmen hat {max} aktive Schlüssel, mehr sind nicht möglich. Widerrufen Sie zuerst einen.',
  destinations_full: 'Das Unternehmen hat {max} Ziele, mehr sind nicht möglich. Entfernen Sie zuerst eines.',
  views_full: 'Ein Unternehmen hat höchstens {max} Ansichten. Löschen Sie zuerst eine.',
  queries_full: 'Ein Unternehmen hat höchstens {max} gespeicherte Abfragen. Löschen Sie zuerst eine.',
  boards_full: 'Ein Unternehmen hat höchstens {max} Boards. Löschen Sie zuerst eines.',
  charts_full: 'Ein Board hat höchstens {max} Diagramme. Entfernen Sie zuerst eines.',
  segments_full: 'Ein Unternehmen hat höchstens {max} Segmente.',
  conditions_full: 'Die Segmente eines Unternehmens haben zusammen höchstens {max} Bedingungen.',
  templates_full: 'Ein Unternehmen hat höchstens {max} Vorlagen.',
  campaigns_full: 'Das Unternehmen hat {max} Kampagnen, mehr sind nicht möglich.',
  versions_full: 'Die Kampagne hatte {max} Versionen, mehr sind nicht möglich.',
  invitations_full: 'Höchstens {max} Einladungen können offen sein.',
  spend_full: 'Ein Unternehmen hat höchstens {max} Zeilen mit Ausgaben. Löschen Sie zuerst die früherer Tage.',
  tests_a_day: 'Ein Unternehmen sendet höchstens {max} Testnachrichten in 24 Stunden.',
  campaign_tests_a_day: 'Ein Unternehmen testet Kampagnen höchstens {max}-mal in 24 Stunden.',
  confirmations_a_day: 'Ein Kontakt wird höchstens {max}-mal in 24 Stunden um eine Bestätigung gebeten.',
  backtest_of_campaign: 'Ein Rückblick-Test dieser Kampagne läuft. Warten Sie auf sein Ende, oder brechen Sie ihn ab.',
  backtests_of_business:
    'Es laufen schon {max} Rückblick-Tests des Unternehmens. Warten Sie auf das Ende eines davon, oder brechen Sie ihn ab.',
  used_by: 'Es wird verwendet von: {names}.',
  segment_used_by: 'Das Segment wird verwendet von: {names}.',
  campaign_is_draft: 'Die Kampagne ist ein Entwurf: Veröffentlichen oder löschen Sie sie.',
  campaign_is_published: 'Die Kampagne ist veröffentlicht: Archivieren Sie sie.',
  campaign_is_paused: 'Die Kampagne ist pausiert: Archivieren Sie sie.',
  campaign_is_archived: 'Die Kampagne ist archiviert und ändert sich nicht mehr.',
  fields_of_published: 'Nach der ersten Veröffentlichung einer Kampagne ändert sich das nicht mehr: {fields}.',
  message_is_settled:
    'Der Zustand der Nachricht ist {state}. Nur eine Nachricht mit unbekanntem Ausgang lässt sich klären.',
  changed_meanwhile: 'Jemand anders hat es inzwischen geändert. Laden Sie es neu.',
  compared_already: 'Die Speicher werden schon verglichen.',
  not_compared: 'Die Speicher werden gerade nicht verglichen.',
  other_account: 'Melden Sie sich als {email} an, um die Einladung anzunehmen.',
  factor_needs_key: 'Der zweite Schritt braucht SECRETS_KEY. Fragen Sie den Betreiber.',
  has_factor: 'Ihr zweiter Schritt ist an. Schalten Sie ihn zuerst aus.',
  no_factor: 'Richten Sie zuerst einen zweiten Schritt ein.',
  request_gone: 'Diese Anfrage ist nicht mehr da: Anfragen werden eine Stunde lang aufbewahrt.',
  delivery_gone: 'Diese Conversion gibt es nicht, sie wurde schon gesendet, oder sie wird gerade gesendet.',
  no_html: 'Diese Nachricht hat kein HTML.',
  secret_needs_key: 'Ohne SECRETS_KEY lässt sich kein Geheimnis speichern. Fragen Sie den Betreiber.',
  sealed_secrets:
    'Die Geheimnisse des Kanals lassen sich nicht öffnen. Fragen Sie den Betreiber nach dem SECRETS_KEY, oder geben Sie sie neu ein.',
  too_much_to_read:
    'Die Abfrage dauert zu lange oder braucht zu viel Speicher. Wählen Sie einen kürzeren Zeitraum, weniger Ereignisse oder Schritte, oder keine Aufteilung.',
}
