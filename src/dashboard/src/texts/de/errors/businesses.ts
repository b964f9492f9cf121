import type { BUSINESS_FAULTS } from '../../../../../rules/faults/businesses.ts'
import type { TextsOf } from '../../error-texts.ts'

export const businesses: TextsOf<typeof BUSINESS_FAULTS> = {
  wrong_password: 'Das ist nicht Ihr Passwort',
  wrong_code: 'Der Code ist falsch. Prüfen Sie die Uhr Ihres Geräts',
  member_already: 'Die Adresse gehört schon einer Person dieses Unternehmens',
  account_already: 'Die Adresse gehört zu einem anderen Konto',
  operator_only: 'Das können nur Betreiber ändern',
  currency: 'Muss ein Code aus drei Buchstaben nach ISO 4217 wie EUR sein, nicht „{sent}“',
  country: 'Muss ein Code aus zwei Buchstaben nach ISO 3166 wie DE sein, nicht „{sent}“',
  timezone: 'Muss eine IANA-Zone wie Europe/Berlin oder UTC sein, nicht „{sent}“',
  zone: 'Muss eine IANA-Zeitzone sein, etwa Europe/Paris',
  language_tag: 'Muss ein BCP-47-Sprachkürzel sein, etwa en oder pt-BR',
  origins_up_to: 'Höchstens {max} Angaben zur Herkunft',
  origin: 'Muss any oder eine Herkunft wie https://shop.example sein, nicht „{sent}“',
  one_of_not: 'Muss eines davon sein: {choices}. Nicht „{sent}“',
  whole_number_not: 'Muss eine ganze Zahl von {min} bis {max} sein, nicht „{sent}“',
}
