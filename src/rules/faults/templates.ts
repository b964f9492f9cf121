/** Of templates, and of recipients of tests. */
export const TEMPLATE_FAULTS = {
  // Of recipients of tests.
  suppressed: 'is a suppressed address: lift the suppression to send to it',
  one_email: 'must be one email address, such as ada@example.com',
  phone: 'must be a phone number, such as +972501234567',

  // Of templates.
  texts_up_to: 'must be a list of at most {max} texts',
  name_of_provider: 'must be a name of the provider',
  clean_string: 'must be a text without NUL characters and lone surrogates',
  default_language: 'must be one of the variants',
  language_name: 'must be named by a language such as en or pt-BR',
  there_twice: 'is there twice',
  one_body: 'must have {parts}',
  html_or_mjml: 'must have html or mjml, not both',
  not_of_channel: 'is not a field of the channel {channel}',
  languages: 'must have 1 to {max} languages',
  no_confirm_url: 'has no {value} in the variant {language}',
  reads: 'it reads {value}, which no contact or event has. It may read {readable}',
  reads_data: 'reads data, which only a send call has',
  data_in_use: 'cannot read data, which only a send call has: it is used by {names}',
  link_scheme: 'has a link that begins with {value}. A link may begin with {schemes}',
  push_size: 'title, body and url have {bytes} bytes together: a push message has at most {max}',
  too_deep: 'it has more than {max} elements in one another',
  lost_text: '"{value}" is lost in the HTML: put text into mj-text or another element for text, and close each element',
  lost_liquid: '{value} is lost in the HTML: between elements, put it in mj-raw',
  lost_media: 'an mj-style with inline="inline" loses @media: put it into one without inline',
  no_include: 'mj-include reads a file, and templates cannot read files: paste its contents',
  mjml_letters: '<{value}> must be written in small letters',
  mjml_bodies: 'it has more than one mj-body, of which one is lost',
  mjml_open: '<{value}> stands within a text: close the element before it',
  of_template_for: 'is of a template for {channel}',
} as const
