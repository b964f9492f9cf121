import type { IMPORT_FAULTS } from '../../../../../rules/faults/imports.ts'
import type { TextsOf } from '../../error-texts.ts'

export const imports: TextsOf<typeof IMPORT_FAULTS> = {
  amount: 'חייב להיות מספר מ-0 עד {max} עם 4 ספרות לכל היותר אחרי הנקודה',
  item_for_each_row: 'נדרש פריט לכל שורה',
  no_field: 'השדה "{name}" לא קיים',
  same_spend: 'היום, הערוץ, המקור, הקמפיין והמטבע זהים לאלה של \u2066spend.{row}\u2069',
  mapping: 'חסר המיפוי של {fields}',
  rows_up_to: 'יותר מ־{max} שורות',
  columns_up_to: 'יותר מ־{max} עמודות',
  column_or_value: 'נדרשת עמודה או ערך',
}
