import type { CONTACT_FAULTS } from '../../../../../rules/faults/contacts.ts'
import type { TextsOf } from '../../error-texts.ts'

export const contacts: TextsOf<typeof CONTACT_FAULTS> = {
  too_large_a_number: 'Ist zu groß für eine Zahl: Senden Sie einen Text',
  whole_phone: 'Muss eine ganze Zahl sein, wenn es als Zahl gesendet wird',
  email_parts: 'Braucht ein @ mit etwas auf beiden Seiten und darf keine Leerzeichen enthalten',
  one_identity: 'Genau eines davon ist erforderlich: email, phone, platformCustomerId',
  filters_a_list: 'Filtert eine Liste: Lassen Sie {kind} weg',
  email_of_the_contact: 'Muss eine der E-Mail-Adressen des Kontakts sein: Fügen Sie sie zuerst mit identify hinzu',
  phone_of_the_contact: 'Muss eine der Telefonnummern des Kontakts sein: Fügen Sie sie zuerst mit identify hinzu',
  removed_as_well: 'Darf nicht zugleich in removeIdentities stehen',
  one_identity_left: 'Der Kontakt braucht mindestens eine Kennung: Eine muss bleiben',
  customer_id_stays: 'Muss wegbleiben: Eine Kundennummer kann nicht entfernt werden',
  unknown_field: 'Ist unbekannt. Bekannte Felder: {fields}',
  not_an_identity: 'Ist ein Platzhalter und keine Kennung',
  in_both_tags: 'Ein Eintrag steht auch in addTags',
  trait: 'Muss ein Text, eine endliche Zahl, true, false oder null sein',
  field_type: 'Muss vom Typ {type} sein',
  fields_full: 'Ist neu, und das Unternehmen hat schon {max} eigene Felder',
  field_with_value: 'Zu einem Wert gehört ein Feld',
  value_with_field: 'Zu einem Feld gehört ein Wert',
  a_filter: 'Mindestens ein Filter ist erforderlich',
}
