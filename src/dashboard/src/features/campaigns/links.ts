/** What other features may use of this one. */
export { CampaignStatus } from './campaign-status.tsx'
export { CampaignContext, type CampaignEditing } from './edit/editing.ts'
export { Issues } from './edit/parts.tsx'
export { Caps, QuietHours } from './edit/rules-fields.tsx'
export { MessageDialog } from './messages/message-dialog.tsx'
export { MessageStateBadge } from './messages/message-state.tsx'
export {
  type CampaignPath,
  type ListedCampaign,
  type Message,
  campaignsQuery,
  messagesQuery,
  reportQuery,
} from './queries.ts'
export { describeReason } from './steps.ts'
