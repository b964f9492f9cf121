-- What a pause of a channel holds, in its order, however many its limits hold: src/messages/channels/wake-held.ts.
create index due_steps_held_by_pauses on due_steps (business_id, (held_by->>'channel'), due_at, enrolment_id)
  where held_by->>'type' = 'channel_paused' and not held;
