import type { TEMPLATE_FAULTS } from '../../../../../rules/faults/templates.ts'
import type { TextsOf } from '../../error-texts.ts'

export const templates: TextsOf<typeof TEMPLATE_FAULTS> = {
  suppressed: 'הכתובת חסומה: יש לבטל קודם את החסימה',
  one_email: 'נדרשת כתובת דוא״ל אחת, כגון \u2066ada@example.com\u2069',
  phone: 'נדרש מספר טלפון, כגון \u2066+972501234567\u2069',
  texts_up_to: 'חייב להיות רשימה של {max} טקסטים לכל היותר',
  name_of_provider: 'חייב להיות שם אצל הספק',
  clean_string: 'נדרש טקסט ללא תווי \u2066NUL\u2069 וללא תווי \u2066surrogate\u2069 בודדים',
  default_language: 'נדרשת אחת משפות התבנית',
  language_name: 'נדרש קוד שפה כגון \u2066en\u2069 או \u2066pt-BR\u2069',
  there_twice: 'מופיע פעמיים',
  one_body: 'נדרש אחד מאלה: {parts}',
  html_or_mjml: 'נדרש \u2066html\u2069 או \u2066mjml\u2069, ולא שניהם',
  not_of_channel: 'אינו שדה של הערוץ {channel}',
  languages: 'נדרשות 1 עד {max} שפות',
  no_confirm_url: 'בשפה {language} חסר {value}',
  reads: 'את {value} אין לאף איש קשר ולאף אירוע. אפשר להשתמש ב־{readable}',
  link_scheme: 'יש קישור שמתחיל ב־{value}. קישור יכול להתחיל ב־{schemes}',
  push_size: 'בכותרת, בטקסט ובכתובת יש יחד {bytes} בתים: בהודעת דחיפה יש {max} לכל היותר',
  too_deep: 'יש בו יותר מ־{max} אלמנטים זה בתוך זה',
  lost_text:
    'הטקסט „{value}” אובד ב־\u2066HTML\u2069: יש לשים טקסט ב־\u2066mj-text\u2069 או באלמנט אחר לטקסט, ולסגור כל אלמנט',
  lost_liquid: '{value} אובד ב־\u2066HTML\u2069: בין אלמנטים יש לשים אותו ב־\u2066mj-raw\u2069',
  lost_media:
    'ב־\u2066mj-style\u2069 עם \u2066inline="inline"\u2069 אובד \u2066@media\u2069: יש לשים אותו באחד ללא \u2066inline\u2069',
  no_include: '\u2066mj-include\u2069 קורא קובץ, ותבניות אינן יכולות לקרוא קבצים: יש להדביק את תוכנו',
  mjml_letters: 'יש לכתוב את \u2066<{value}>\u2069 באותיות קטנות',
  mjml_bodies: 'יש יותר מ־\u2066mj-body\u2069 אחד, ואחד מהם אובד',
  mjml_open: '\u2066<{value}>\u2069 נמצא בתוך טקסט: יש לסגור את האלמנט שלפניו',
  reads_data: 'קורא נתונים שקיימים רק בקריאת שליחה',
  data_in_use: 'לא יכול לקרוא נתונים שקיימים רק בקריאת שליחה: בשימוש של {names}',
  of_template_for: 'שייך לתבנית של {channel}',
}
