/** Why a message did not go out, as callers read it. */

/** Of what the claim leaves out, in the order in which it looks. */
export const SKIP_REASONS = ['held_out', 'no_opt_in', 'no_topic', 'no_address', 'suppressed', 'cap'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** `ended`: the enrolment ended before another attempt. */
export const SKIPPED_REASONS = [...SKIP_REASONS, 'ended'] as const
export type SkippedReason = (typeof SKIPPED_REASONS)[number]

/** Of the message of a call. `expired`: it was not handed over in the time that it was valid for. */
export type CallSkipReason = 'no_address' | 'suppressed' | 'expired'

const FAILURE_REASONS = ['template_failed', 'provider_refused', 'gave_up'] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

export const MESSAGE_REASONS = [...SKIPPED_REASONS, 'expired', ...FAILURE_REASONS] as const
export type MessageReason = (typeof MESSAGE_REASONS)[number]
