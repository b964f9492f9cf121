import type { CHANNEL_FAULTS } from '../../../../../rules/faults/channels.ts'
import type { TextsOf } from '../../error-texts.ts'

export const channels: TextsOf<typeof CHANNEL_FAULTS> = {
  version: 'חייב להיות גרסה כגון {example}',
  credential: 'נדרשים 1 עד {max} תווים ללא רווחים',
  platform_number: 'חייב להיות המספר של הפלטפורמה, ספרות בלבד',
  test_event_code: 'חייב להיות קוד כגון \u2066TEST12345\u2069',
  conversion_actions:
    'חייבים להיות מספרים של פעולות המרה עבור \u2066purchase\u2069, \u2066lead\u2069 או \u2066booking\u2069',
  signing_key: 'חייב להיות מפתח של {min} עד {max} תווים',
  host_name: 'חייב להיות שם מארח או כתובת \u2066IP\u2069',
  port: 'חייב להיות פורט מ-1 עד 65535',
  message_stream:
    'חייב להיות מזהה של \u2066message stream\u2069: 1 עד 100 אותיות, ספרות, \u2066-\u2069 או \u2066_\u2069',
  name_without_colon: 'חייב להיות שם של 1 עד {max} תווים ללא נקודתיים',
  phone_number_id: 'חייב להיות מזהה של מספר טלפון: 1 עד 32 ספרות',
  account_sid: 'חייב להיות \u2066SID\u2069 של חשבון, שמתחיל ב-\u2066AC\u2069',
  twilio_sender:
    'חייב להיות מספר טלפון כגון \u2066+15005550006\u2069, קוד קצר, מזהה שולח או \u2066SID\u2069 של \u2066messaging service\u2069',
  aws_region: 'חייב להיות אזור של \u2066AWS\u2069, כגון \u2066eu-central-1\u2069',
  access_key_id: 'חייב להיות מזהה של מפתח גישה: 4 עד 128 אותיות וספרות',
  configuration_set:
    'חייב להיות שם של \u2066configuration set\u2069: 1 עד 64 אותיות, ספרות, \u2066-\u2069 או \u2066_\u2069',
  host: 'נדרש שם של שרת או כתובת \u2066IP\u2069, ולא {host}',
  password_again: 'שדה חובה, ושוב כאשר \u2066host\u2069, \u2066port\u2069 או \u2066user\u2069 משתנים',
  user_with_password: 'שדה חובה כאשר יש סיסמה',
  push_subject: 'נדרש \u2066mailto:\u2069 עם כתובת דוא״ל, או כתובת \u2066https\u2069',
  https_address: 'נדרשת כתובת \u2066https\u2069',
  http_address: 'נדרשת כתובת \u2066http\u2069 או \u2066https\u2069 בלי סיסמה',
  secret_again: 'שדה חובה, ושוב כאשר אחד מאלה משתנה: {fields}',
  secret_with_host: 'שדה חובה, ושוב כאשר השרת של \u2066url\u2069 משתנה',
  mailbox: 'נדרשת כתובת כגון \u2066hello@shop.example\u2069 או \u2066Shop <hello@shop.example>\u2069',
  an_address: 'זו אינה כתובת',
  no_setting_of: 'אינו הגדרה של {kind}',
  missing: 'חסר',
  no_setting: 'אין הגדרה בשם {name}. יש להסיר אותה',
  only_for_webhooks: 'רק ל־\u2066webhook\u2069',
  excludes_secret: 'אי אפשר יחד עם \u2066secret\u2069',
  push_keys_missing: 'מפתחות הערוץ חסרים: יש לשמור שוב את הגדרותיו',
  no_sender: 'לערוץ אין שולח עם דומיין: יש להגדיר אותו קודם',
  test_code: 'חסר: יש לשמור קודם קוד בדיקה מ־\u2066“Test events”\u2069 של \u2066Meta\u2069, ולהסיר אותו אחרי הבדיקה',
  google_types: 'לא עבור \u2066google\u2069. \u2066Google\u2069 מקבלת את ההמרות שהוגדרה להן פעולת המרה',
  pending_template: 'יש לבחור קודם את תבנית האישור',
  pending_address: 'לאיש הקשר אין כתובת דוא״ל',
  no_provider: 'לערוץ {channel} אין ספק {provider}',
  secrets_unopened: 'אי אפשר לפתוח את הסודות של הערוץ: יש להזין אותם שוב',
  settings_incomplete: 'הגדרות הערוץ אינן שלמות: {field}',
}
