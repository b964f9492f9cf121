import type { EnglishErrorTexts } from '../error-texts.ts'

/**
 * What the pages say in place of the server's own words, which describe the JSON of the API. Where there is nothing
 * here, they show the server's words.
 */
export const texts: EnglishErrorTexts = {
  codes: {
    identity_required: 'An email address, a phone number or a customer ID is missing.',
    invalid_occurred_at: 'The time is not valid, or it is in the future.',
  },
  faults: {
    required: 'This is required.',
    not_empty: 'This must not be empty.',
    text: 'Enter a text.',
    text_or_null: 'Enter a text.',
    text_of: 'Enter {min} to {max} characters.',
    text_up_to: 'Enter at most {max} characters.',
    characters: 'Enter {min} to {max} characters.',
    characters_up_to: 'Enter at most {max} characters.',
    clean_text: 'This has characters that cannot be stored.',
    number: 'Enter a number.',
    number_from_0: 'Enter a number, 0 or more.',
    whole_number_from_0: 'Enter a whole number, 0 or more.',
    whole_number: 'Enter a whole number from {min} to {max}.',
    json: 'This is not valid JSON.',
    email: 'Enter an email address.',
    email_or_phone: 'Enter an email address or a phone number.',
    contact_id: 'Enter the ID of a contact.',
    date: 'Enter a date such as 2026-02-28, of the years 1900 to 2299.',
    instant: 'Enter a date, or a date and a time.',
    before_to: 'This must be before the end.',
    not_after_to: 'This must not be after the end.',
    later_than_from: 'This must be after the beginning.',
    days_after_from: 'This can be at most {max} days after the beginning.',
    days_apart: 'The two dates can be at most {max} days apart.',
    name_taken: 'This name is taken already.',

    wrong_password: 'This is not your password.',
    wrong_code: 'The code is wrong. Check the clock of your device.',
    member_already: 'This address belongs to a person of this business.',
    account_already: 'This address belongs to another account.',
    email_parts: 'An email address has one @ with something on both sides, and no spaces.',

    time_of_day: 'Enter a time from 00:00 to 23:59, such as 09:00.',
    percent: 'Enter a number from {min} to {max}, with at most 2 decimals.',
    cap_days: 'Enter a number above 0 and at most {max}.',
    template_id: 'Choose a template.',
    duration: 'Enter a duration above zero and at most a year, such as P3D or PT90M.',
    hundred_percent: 'The percentages must add up to 100, not {sum}.',
    not_the_goal: 'This is the event of the goal, which ends the enrolment.',
    not_the_trigger: 'This is the event that starts the campaign.',

    suppressed: 'This address is suppressed. Lift the suppression to send to it.',
    one_email: 'Enter one email address, such as ada@example.com.',
    phone: 'Enter a phone number, such as +972501234567.',
    reads: 'No contact or event has {value}. Choose one of the available values.',
    link_scheme: 'Has a link that begins with {value}. A link may begin with {schemes}.',
    push_size: 'Title, text and link have {bytes} bytes together. A push message has at most {max}.',

    mailbox: 'Enter an address such as hello@shop.example or Shop <hello@shop.example>.',
    excludes_secret: 'This and a secret exclude each other.',
  },
}
