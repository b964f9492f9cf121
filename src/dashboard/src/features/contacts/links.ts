/** What other features may use of this one. */
export { ContactCell } from './contact-cell.tsx'
export { ContactPicker } from './contact-picker.tsx'
export { findContactsQuery, namesQuery, withNames } from './names.ts'
export { nameOf } from './show-contact.ts'
