import type { BUSINESS_FAULTS } from '../../../../../rules/faults/businesses.ts'
import type { TextsOf } from '../../error-texts.ts'

export const businesses: TextsOf<typeof BUSINESS_FAULTS> = {
  wrong_password: 'זו אינה הסיסמה שלך',
  wrong_code: 'הקוד שגוי. יש לבדוק את השעון של המכשיר',
  member_already: 'הכתובת כבר שייכת לאדם בעסק הזה',
  account_already: 'הכתובת שייכת לחשבון אחר',
  operator_only: 'רק מפעיל יכול לשנות זאת',
  currency: 'נדרש קוד של שלוש אותיות לפי \u2066ISO 4217\u2069 כגון \u2066ILS\u2069, ולא „{sent}”',
  country: 'נדרש קוד של שתי אותיות לפי \u2066ISO 3166\u2069 כגון \u2066IL\u2069, ולא „{sent}”',
  timezone: 'נדרש אזור זמן של \u2066IANA\u2069 כגון \u2066Asia/Jerusalem\u2069 או \u2066UTC\u2069, ולא „{sent}”',
  zone: 'נדרש אזור זמן של \u2066IANA\u2069, כגון \u2066Europe/Paris\u2069',
  language_tag: 'נדרש קוד שפה של \u2066BCP 47\u2069, כגון \u2066en\u2069 או \u2066pt-BR\u2069',
  origins_up_to: '{max} מקורות לכל היותר',
  origin: 'נדרש \u2066any\u2069 או מקור כגון \u2066https://shop.example\u2069, ולא „{sent}”',
  one_of_not: 'נדרש אחד מאלה: {choices}. לא „{sent}”',
  whole_number_not: 'נדרש מספר שלם מ־{min} עד {max}, ולא „{sent}”',
}
