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
    malformed_json: 'תוכן הבקשה אינו \u2066JSON\u2069 תקין.',
    identity_required: 'נדרש אחד מאלה: כתובת דוא״ל, מספר טלפון או מספר לקוח.',
    invalid_occurred_at: 'הזמן אינו תקין, או שהוא בעתיד.',
    properties_too_large: 'המאפיינים גדולים מדי.',
    missing_api_key: 'חסר מפתח \u2066API\u2069.',
    invalid_api_key: 'מפתח ה־\u2066API\u2069 אינו תקין, או שבוטל.',
    publishable_key: 'כאן נדרש מפתח סודי.',
    key_not_accepted: 'לוח הבקרה אינו מקבל מפתחות \u2066API\u2069.',
    cross_site_request: 'הבקשה לא הגיעה מדף של לוח הבקרה הזה. מאחורי פרוקסי יש להגדיר \u2066PUBLIC_URL\u2069.',
    business_mismatch: 'הערך של \u2066businessId\u2069 שייך לעסק אחר מזה של מפתח ה־\u2066API\u2069.',
    business_inactive: 'העסק אינו פעיל.',
    forged_callback: 'הדיווח אינו מהספק של הערוץ.',
    origin_not_allowed: 'העסק אינו מתיר קריאות מהמקור הזה.',
    business_not_found: 'אין עסק כזה.',
    not_found: 'זה אינו קיים, או כבר אינו קיים.',
    method_not_allowed: 'הכתובת אינה תומכת בפעולה הזאת.',
    business_not_empty: 'לעסק יש אנשי קשר משלו. נתוני הדגמה נטענים רק לעסק בלי אנשי קשר.',
    locked: 'המצב אינו מתיר את השינוי הזה.',
    in_use: 'זה עדיין בשימוש, ולכן אי אפשר למחוק אותו.',
    limit_reached: 'הושג המספר המרבי.',
    payload_too_large: 'תוכן הבקשה גדול מדי.',
    uri_too_long: 'הנתיב עם השאילתה ארוך מדי: שלחו לכל היותר 16,384 תווים.',
    unsupported_media_type: 'הערך של \u2066Content-Type\u2069 חייב להיות \u2066application/json\u2069.',
    outcome_unknown: 'לא ידוע אם השינוי נשמר. יש לטעון את הדף מחדש.',
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
