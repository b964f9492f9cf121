/** What a person has typed and not saved. */
export const texts = {
  discard: 'Discard',
  restored: 'Your unsaved changes from earlier are back. They are kept in this browser.',
  conflict: 'Someone else has saved a version since you started. If you save, yours replaces it.',
}
