/** What other features may use of this one. */
export { SaveToBoard } from './save-to-board.tsx'
