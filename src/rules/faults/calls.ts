/** Of send calls. */
export const CALL_FAULTS = {
  exactly_one: 'must have exactly one of {fields}',
  customer_id: 'must be the id of a customer',
  not_to_email: 'does not fit to.email: it is for {channel}',
  not_to_phone: 'does not fit to.phone: it is for {channel}',
  not_by_webhook: 'cannot be a template for webhooks',
  only_by_email: 'is for emails alone',
  data_too_deep: 'is nested too deep',
  valid_for: 'must be a duration from PT10S to P3D',
  file_name: 'must be a file name without /, \\ and control characters',
  media_type: 'must be a media type such as application/pdf',
  content_id: 'must be 1 to 255 characters without spaces and brackets',
  base64: 'must be base64',
  per_address_hour: 'must be a whole number from 1 to {max}, or null',
} as const
