import type { CAMPAIGN_FAULTS } from '../../../../../rules/faults/campaigns.ts'
import type { TextsOf } from '../../error-texts.ts'

export const campaigns: TextsOf<typeof CAMPAIGN_FAULTS> = {
  time_of_day: 'Muss eine Uhrzeit von 00:00 bis 23:59 sein, etwa 09:00',
  percent: 'Muss eine Zahl von {min} bis {max} mit höchstens 2 Dezimalstellen sein',
  an_update: 'Mindestens eines davon ist erforderlich: addTags, removeTags, traits',
  tags: 'Muss eine Liste von Tags sein',
  traits: 'Muss ein Objekt mit eigenen Feldern sein',
  skipped_trait: 'Würde teilweise ignoriert: {warning}',
  caps: 'Höchstens {max} Obergrenzen',
  cap_days: 'Muss eine Zahl über 0 und höchstens {max} sein',
  unreachable: 'Wird nie erreicht: {step} beendet die Teilnahme immer',
  not_the_goal: 'Darf nicht das Ereignis des Ziels sein, das die Teilnahme beendet, außer wenn beide Bedingungen haben',
  not_the_trigger: 'Darf nicht das Ereignis sein, mit dem die Kampagne beginnt, außer wenn beide Bedingungen haben',
  enrol_per: 'Muss „contact“ sein oder den Pfad einer Eigenschaft nennen',
  for_an_event: 'Ist nur für Kampagnen, die mit einem Ereignis beginnen',
  same_key: 'Muss „true“ sein oder der Pfad einer Eigenschaft',
  needs_a_key: 'Braucht einen Schlüssel: enrolPer muss eine Eigenschaft nennen',
  no_key_in_event:
    'Braucht unter {property} einen Text von 1 bis 200 Zeichen oder eine Zahl, sonst nimmt mit dem Ereignis niemand teil',
  event_conditions_full:
    'Höchstens {max} verschiedene Bedingungen an das Ereignis {event} können veröffentlicht sein oder aktive Teilnahmen haben',
  steps: 'Muss eine Liste von Schritten sein',
  step_levels: 'Liegt auf Ebene {level}: Schritte haben höchstens {max} Ebenen',
  too_many_steps: 'Ist ein Schritt zu viel: Eine Kampagne hat höchstens {max}',
  step: 'Muss ein Objekt mit type sein',
  step_id_twice: 'Wird schon von einem anderen Schritt verwendet',
  step_id_of_type: 'War in einer früheren Version die ID eines Schritts der Art {type}',
  template_id: 'Wählen Sie eine Vorlage',
  duration:
    'Muss eine Dauer nach ISO 8601 aus Wochen, Tagen, Stunden, Minuten und Sekunden sein, etwa P3D oder PT90M, über null und höchstens P365D',
  weekdays: 'Muss eine Liste verschiedener ganzer Zahlen von 1 (Montag) bis 7 sein',
  parts: 'Muss eine Liste von 1 bis {max} Teilen sein',
  hundred_percent: 'Die Prozente müssen zusammen 100 ergeben, nicht {sum}',
  web_property: 'Muss, wenn die Kampagne mit {trigger} beginnt, eines davon sein: {choices}',
  compares_with: 'Muss mit einem Wert vom Typ {type} vergleichen',
  sources: 'Muss ["live"] sein oder fehlen',
  segment_of_business: 'Dieses Segment hat das Unternehmen nicht',
  template_of_business: 'Diese Vorlage hat das Unternehmen nicht',
  template_for: 'Ist eine Vorlage für {channel}',
  once_in_a_broadcast:
    'Muss bei „Einmal, für die Mitglieder eines Segments“ false sein: Jeder Kontakt wird einmal aufgenommen',
  for_a_broadcast: 'Ist nur für „Einmal, für die Mitglieder eines Segments“ (trigger.on: members)',
  days_ahead: 'Darf höchstens {max} Tage in der Zukunft liegen',
  web_campaigns:
    'Höchstens {max} Kampagnen, die durch Seitenaufrufe beginnen, können veröffentlicht oder pausiert sein',
  either_contact: 'Entweder contactId oder contact ist erforderlich, nicht beide',
  of_the_type: 'Ist vom Typ {type}',
  too_many_instants: 'Die Simulation braucht mehr als {max} Zeitpunkte',
}
