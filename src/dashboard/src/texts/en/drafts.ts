/** What a person has typed and not saved. */
export const texts = {
  discard: 'Discard',
  restored: 'This is what you typed earlier and did not save. It is kept in this browser.',
  conflict: 'Another person has saved a version since you began. If you save, yours takes its place.',
}
