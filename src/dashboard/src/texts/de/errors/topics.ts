import type { TOPIC_FAULTS } from '../../../../../rules/faults/topics.ts'
import type { TextsOf } from '../../error-texts.ts'

export const topics: TextsOf<typeof TOPIC_FAULTS> = {
  topic_key:
    'Muss aus Wörtern aus Kleinbuchstaben und Ziffern bestehen, mit _ verbunden, und mit einem Buchstaben beginnen: höchstens {max} Zeichen',
  topic_channels: 'Muss eine Liste verschiedener Kanäle sein, aus {choices}',
  topic_language: 'Muss eine der Sprachen der Namen sein',
  topic_of_business: 'Ist kein aktives Thema des Unternehmens',
  topic_unknown: 'Ist kein Thema des Unternehmens',
  topic_without: 'Ist ein Thema ohne den Kanal {channel}',
  topic_needed: 'Fehlt: der Kanal {channel} hat Themen',
  topic_of_marketing: 'Muss fehlen: eine Transaktionsnachricht hat kein Thema',
  topic_choices: 'Muss mindestens ein Thema nennen, jedes mit einer Wahl für mindestens einen seiner Kanäle',
  topic_pending: 'Muss true oder false sein, oder „pending“ für E-Mail',
  topic_key_taken: 'Das Unternehmen hat schon ein Thema mit dem Schlüssel {key}.',
  topic_fixed: '{fields} eines Themas ist fest, und Kanäle lassen sich nicht wegnehmen.',
  topic_with_data: 'Kontakte haben zum Thema gewählt, oder Nachrichten gehören dazu. Archivieren Sie es.',
  topics_full: 'Ein Unternehmen hat höchstens {max} aktive Themen. Archivieren Sie zuerst eines.',
  topics_ever_full: 'Ein Unternehmen hat höchstens {max} Themen, archivierte mitgezählt. Löschen Sie zuerst eines.',
  no_topic: 'Es gibt kein Thema mit diesem Schlüssel.',
}
