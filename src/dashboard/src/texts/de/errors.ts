import type { ErrorTexts } from '../error-texts.ts'
import { analytics } from './errors/analytics.ts'
import { businesses } from './errors/businesses.ts'
import { calls } from './errors/calls.ts'
import { campaigns } from './errors/campaigns.ts'
import { channels } from './errors/channels.ts'
import { contacts } from './errors/contacts.ts'
import { fields } from './errors/fields.ts'
import { imports } from './errors/imports.ts'
import { refusals } from './errors/refusals.ts'
import { segments } from './errors/segments.ts'
import { templates } from './errors/templates.ts'
import { topics } from './errors/topics.ts'

export const texts: ErrorTexts = {
  codes: {
    malformed_json: 'Der Inhalt der Anfrage ist kein gültiges JSON.',
    identity_required: 'Es fehlt eine E-Mail-Adresse, eine Telefonnummer oder eine Kundennummer.',
    invalid_occurred_at: 'Die Zeit ist nicht gültig, oder sie liegt in der Zukunft.',
    properties_too_large: 'Die Eigenschaften sind zu groß.',
    missing_api_key: 'Der API-Schlüssel fehlt.',
    invalid_api_key: 'Der API-Schlüssel ist ungültig oder wurde widerrufen.',
    publishable_key: 'Hier wird ein geheimer Schlüssel gebraucht.',
    key_not_accepted: 'Das Dashboard nimmt keine API-Schlüssel an.',
    cross_site_request:
      'Die Anfrage kam nicht von einer Seite dieses Dashboards. Hinter einem Proxy muss PUBLIC_URL gesetzt sein.',
    business_mismatch: 'businessId nennt ein anderes Unternehmen als der API-Schlüssel.',
    business_inactive: 'Das Unternehmen ist nicht aktiv.',
    forged_callback: 'Die Meldung kommt nicht vom Anbieter des Kanals.',
    origin_not_allowed: 'Das Unternehmen erlaubt keine Aufrufe von dieser Herkunft.',
    business_not_found: 'Dieses Unternehmen gibt es nicht.',
    not_found: 'Das gibt es nicht, oder nicht mehr.',
    method_not_allowed: 'Diese Adresse unterstützt die Methode nicht.',
    business_not_empty: 'Das Unternehmen hat eigene Kontakte. Demodaten kommen nur in ein Unternehmen ohne Kontakte.',
    locked: 'Der Zustand erlaubt diese Änderung nicht.',
    in_use: 'Es wird noch verwendet und lässt sich deshalb nicht löschen.',
    limit_reached: 'Die Höchstzahl ist erreicht.',
    payload_too_large: 'Der Inhalt der Anfrage ist zu groß.',
    uri_too_long: 'Der Pfad mit seiner Abfrage ist zu lang: Senden Sie höchstens 16.384 Zeichen.',
    unsupported_media_type: 'Content-Type muss application/json sein.',
    outcome_unknown: 'Es ist nicht bekannt, ob die Änderung gespeichert wurde. Laden Sie die Seite neu.',
  },
  faults: {
    ...fields,
    ...businesses,
    ...contacts,
    ...segments,
    ...calls,
    ...campaigns,
    ...templates,
    ...topics,
    ...channels,
    ...analytics,
    ...imports,
    ...refusals,
  },
}
