/** Of topics. */
export const TOPIC_FAULTS = {
  topic_key:
    'must be words of small letters and digits, joined by _, that begin with a letter: at most {max} characters',
  topic_channels: 'must be a list of different channels, of {choices}',
  topic_language: 'must be one of the languages of names',
  topic_of_business: 'is not an active topic of the business',
  topic_unknown: 'is not a topic of the business',
  topic_without: 'is a topic without the channel {channel}',
  topic_needed: 'is required: the channel {channel} has topics',
  topic_of_marketing: 'must be left out: a transactional message has no topic',
  topic_choices: 'must name at least one topic, each with a choice for at least one of its channels',
  topic_pending: 'must be true or false, or "pending" for email',
  topic_key_taken: 'The business has a topic with the key {key} already.',
  topic_fixed: '{fields} of a topic cannot change, and channels cannot be taken away.',
  topic_with_data: 'Contacts have choices of the topic, or messages were made for it. Archive it.',
  topics_full: 'A business has at most {max} active topics. Archive one first.',
  topics_ever_full: 'A business has at most {max} topics, with archived ones. Delete one first.',
  no_topic: 'There is no topic with this key.',
} as const
