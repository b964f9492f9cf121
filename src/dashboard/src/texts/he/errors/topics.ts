import type { TOPIC_FAULTS } from '../../../../../rules/faults/topics.ts'
import type { TextsOf } from '../../error-texts.ts'

export const topics: TextsOf<typeof TOPIC_FAULTS> = {
  topic_key: 'חייב להיות מילים של אותיות לטיניות קטנות וספרות, מחוברות בקו תחתון, שמתחילות באות: {max} תווים לכל היותר',
  topic_channels: 'חייבת להיות רשימה של ערוצים שונים, מתוך {choices}',
  topic_language: 'חייבת להיות אחת השפות של השמות',
  topic_of_business: 'אינו נושא פעיל של העסק',
  topic_unknown: 'אינו נושא של העסק',
  topic_without: 'הוא נושא בלי הערוץ {channel}',
  topic_needed: 'נדרש: לערוץ {channel} יש נושאים',
  topic_of_marketing: 'יש להשמיט: להודעה תפעולית אין נושא',
  topic_choices: 'חייב לכלול לפחות נושא אחד, ולכל אחד בחירה לערוץ אחד לפחות',
  topic_pending: 'חייב להיות כן או לא, או „\u2068pending\u2069” לדוא״ל',
  topic_key_taken: 'לעסק כבר יש נושא עם המפתח {key}.',
  topic_fixed: '{fields} של נושא קבוע, ואי אפשר להסיר ערוצים.',
  topic_with_data: 'לאנשי קשר יש בחירות בנושא, או שיש הודעות שלו. אפשר להעביר אותו לארכיון.',
  topics_full: 'לעסק יש לכל היותר {max} נושאים פעילים. יש להעביר אחד לארכיון קודם.',
  topics_ever_full: 'לעסק יש לכל היותר {max} נושאים, כולל אלה שבארכיון. יש למחוק אחד קודם.',
  no_topic: 'אין נושא עם המפתח הזה.',
}
