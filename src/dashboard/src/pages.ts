/**
 * All pages, one row each. The router, the navigation and the paths that the front door serves follow from it. The front
 * door cannot import the code of pages, so a row only names it.
 */
import type { PageRow } from './page-row.ts'

/** In the order of the side navigation and of the tabs of analytics. */
export const PAGES = [
  {
    path: '/dashboard/sign-in',
    code: ['account/sign-in', 'SignInPage'],
    texts: ['sign-in'],
    access: 'guest',
  },
  {
    path: '/dashboard/forgot',
    code: ['account/forgot', 'ForgotPage'],
    texts: ['sign-in'],
    access: 'anyone',
  },
  {
    path: '/dashboard/link',
    code: ['account/link', 'LinkPage'],
    texts: ['sign-in'],
    access: 'anyone',
  },
  {
    path: '/dashboard/b/$businessId',
    code: ['home', 'HomePage'],
    texts: ['home'],
    navigation: { text: 'home', icon: 'home', permission: 'lists:read', key: 'h' },
  },
  {
    path: '/dashboard/b/$businessId/contacts',
    code: ['contacts/list', 'ContactsPage'],
    texts: ['contacts'],
    navigation: { text: 'contacts', icon: 'people', permission: 'lists:read', group: 'people', key: 'c' },
  },
  {
    path: '/dashboard/b/$businessId/contacts/$contactId',
    code: ['contacts/show', 'ContactPage'],
    texts: ['campaigns', 'contacts', 'segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/segments',
    code: ['segments/list', 'SegmentsPage'],
    texts: ['segments'],
    navigation: { text: 'segments', icon: 'segments', permission: 'lists:read', group: 'people', key: 's' },
  },
  {
    path: '/dashboard/b/$businessId/segments/new',
    code: ['segments/edit', 'NewSegmentPage'],
    texts: ['segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/segments/$segmentId',
    code: ['segments/show', 'SegmentPage'],
    texts: ['segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/segments/$segmentId/edit',
    code: ['segments/edit', 'EditSegmentPage'],
    texts: ['segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/campaigns',
    code: ['campaigns/list', 'CampaignsPage'],
    texts: ['campaigns'],
    navigation: { text: 'campaigns', icon: 'campaign', permission: 'lists:read', group: 'people', key: 'm' },
  },
  {
    path: '/dashboard/b/$businessId/campaigns/new',
    code: ['campaigns/edit', 'NewCampaignPage'],
    texts: ['campaigns', 'campaign-editor', 'drafts', 'segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/campaigns/$campaignId',
    code: ['campaigns/show', 'CampaignPage'],
    texts: ['campaigns', 'segments', 'segment-rules', 'test-sequence'],
  },
  {
    path: '/dashboard/b/$businessId/campaigns/$campaignId/edit',
    code: ['campaigns/edit', 'EditCampaignPage'],
    texts: ['campaigns', 'campaign-editor', 'drafts', 'segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/templates',
    code: ['templates/list', 'TemplatesPage'],
    texts: ['templates', 'campaigns'],
    navigation: { text: 'templates', icon: 'mail', permission: 'lists:read', group: 'people', key: 't' },
  },
  {
    path: '/dashboard/b/$businessId/templates/new',
    code: ['templates/edit', 'NewTemplatePage'],
    texts: ['templates', 'campaigns', 'segments', 'drafts', 'test-send'],
  },
  {
    path: '/dashboard/b/$businessId/templates/$templateId',
    code: ['templates/edit', 'TemplatePage'],
    texts: ['templates', 'campaigns', 'segments', 'drafts', 'test-send'],
  },
  {
    path: '/dashboard/b/$businessId/custom-fields',
    code: ['data/custom-fields', 'CustomFieldsPage'],
    texts: ['custom-fields'],
    navigation: { text: 'customFields', icon: 'fields', permission: 'lists:read', group: 'people', key: 'f' },
  },
  {
    path: '/dashboard/b/$businessId/analytics',
    code: ['analytics/events', 'EventsPage'],
    texts: ['analytics', 'contacts', 'segments', 'segment-rules'],
    navigation: { text: 'analytics', icon: 'chart', permission: 'lists:read', group: 'analytics', key: 'y' },
  },
  {
    path: '/dashboard/b/$businessId/analytics/funnel',
    code: ['analytics/funnel', 'FunnelPage'],
    texts: ['analytics', 'segments', 'segment-rules'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/retention',
    code: ['analytics/retention', 'RetentionPage'],
    texts: ['analytics', 'contacts'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/revenue',
    code: ['analytics/revenue', 'RevenuePage'],
    texts: ['analytics', 'contacts'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/attribution',
    code: ['analytics/attribution', 'AttributionPage'],
    texts: ['analytics', 'attribution', 'imports'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/lifecycle',
    code: ['analytics/lifecycle', 'LifecyclePage'],
    texts: ['analytics', 'journeys'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/stages',
    code: ['analytics/stages', 'StagesPage'],
    texts: ['analytics', 'journeys', 'contacts'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/web',
    code: ['analytics/web', 'WebPage'],
    texts: ['analytics', 'web'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/engagement',
    code: ['analytics/engagement', 'EngagementPage'],
    texts: ['analytics', 'journeys', 'segments'],
  },
  {
    path: '/dashboard/b/$businessId/analytics/audience',
    code: ['analytics/audience', 'AudiencePage'],
    texts: ['analytics', 'journeys', 'segments', 'campaigns'],
  },
  {
    path: '/dashboard/b/$businessId/boards',
    code: ['boards/list', 'BoardsPage'],
    texts: ['boards'],
    navigation: { text: 'boards', icon: 'board', permission: 'lists:read', group: 'analytics', key: 'v' },
  },
  {
    path: '/dashboard/b/$businessId/boards/$boardId',
    code: ['boards/show', 'BoardPage'],
    texts: ['boards', 'analytics', 'contacts', 'sql'],
  },
  {
    path: '/dashboard/b/$businessId/sql',
    code: ['data/sql', 'SqlPage'],
    texts: ['sql'],
    navigation: { text: 'sql', icon: 'code', permission: 'sql:run', group: 'analytics', key: 'q' },
  },
  {
    path: '/dashboard/b/$businessId/live',
    code: ['data/live', 'LivePage'],
    texts: ['live'],
    navigation: { text: 'live', icon: 'live', permission: 'contacts:read', group: 'data', key: 'l' },
  },
  {
    path: '/dashboard/b/$businessId/imports',
    code: ['data/imports', 'ImportsPage'],
    texts: ['imports'],
    navigation: { text: 'imports', icon: 'import', permission: 'imports:write', group: 'data', key: 'i' },
  },
  {
    path: '/dashboard/b/$businessId/deliveries',
    code: ['deliveries', 'DeliveriesPage'],
    texts: ['deliveries'],
    navigation: { text: 'deliveries', icon: 'send', permission: 'lists:read', group: 'data', key: 'd' },
  },
  {
    path: '/dashboard/reference',
    code: ['reference', 'ReferencePage'],
    texts: ['shell', 'reference'],
    access: 'anyone',
    navigation: { text: 'reference', icon: 'book', permission: null, group: 'data', key: 'r' },
  },
  {
    path: '/dashboard/b/$businessId/settings/keys',
    code: ['settings/keys', 'KeysPage'],
    texts: ['settings'],
    navigation: { text: 'keys', icon: 'key', permission: 'lists:read', group: 'settings', key: 'k' },
  },
  {
    path: '/dashboard/b/$businessId/settings/business',
    code: ['settings/business', 'BusinessPage'],
    texts: ['settings'],
    navigation: { text: 'business', icon: 'building', permission: 'lists:read', group: 'settings', key: 'b' },
  },
  {
    path: '/dashboard/b/$businessId/settings/channels',
    code: ['settings/channels', 'ChannelsPage'],
    texts: ['channels', 'campaigns', 'test-send'],
    navigation: { text: 'channels', icon: 'send', permission: 'contacts:read', group: 'settings', key: 'n' },
  },
  {
    path: '/dashboard/b/$businessId/settings/senders',
    code: ['settings/senders', 'SendersPage'],
    texts: ['senders', 'channels', 'campaigns', 'test-send'],
    navigation: { text: 'senders', icon: 'mail', permission: 'lists:read', group: 'settings', key: 'z' },
  },
  {
    path: '/dashboard/b/$businessId/settings/messages',
    code: ['settings/messaging', 'MessagingPage'],
    texts: ['messaging', 'settings', 'campaigns', 'campaign-editor'],
    navigation: { text: 'messaging', icon: 'mail', permission: 'lists:read', group: 'settings', key: 'e' },
  },
  {
    path: '/dashboard/b/$businessId/settings/suppressions',
    code: ['settings/suppressions', 'SuppressionsPage'],
    texts: ['suppressions', 'campaigns'],
    navigation: { text: 'suppressions', icon: 'lock', permission: 'contacts:read', group: 'settings', key: 'x' },
  },
  {
    path: '/dashboard/b/$businessId/settings/people',
    code: ['settings/people', 'PeoplePage'],
    texts: ['settings'],
    navigation: { text: 'people', icon: 'person', permission: 'contacts:read', group: 'settings', key: 'p' },
  },
  {
    path: '/dashboard/b/$businessId/settings/audit',
    code: ['settings/audit', 'AuditPage'],
    texts: ['settings'],
    navigation: { text: 'audit', icon: 'list', permission: 'audit:read', group: 'settings', key: 'u' },
  },
  {
    path: '/dashboard/operations',
    code: ['operations', 'OperationsPage'],
    texts: ['operations', 'settings'],
    navigation: { text: 'operations', icon: 'gauge', permission: 'operations', group: 'installation', key: 'o' },
  },
  {
    path: '/dashboard/account',
    code: ['account/account', 'AccountPage'],
    texts: ['account'],
    navigation: { text: 'account', icon: 'person', permission: null, key: 'a', isInMenu: true },
  },
] as const satisfies readonly PageRow[]

export type Page = (typeof PAGES)[number]
export type PagePath = Page['path']

/** What the front door serves. The first leads to the first page that the person may see. */
export const PAGE_PATHS: readonly string[] = ['/dashboard', .../* @__PURE__ */ PAGES.map(({ path }) => path)]

const ANALYTICS = '/dashboard/b/$businessId/analytics/'
type AnalyticsPath<Path> = Path extends `/dashboard/b/$businessId/analytics/${infer Name}` ? Name : never

/** The end of the path of each page of analytics but the first. */
export const ANALYTICS_PAGES = PAGES.flatMap(({ path }) =>
  path.startsWith(ANALYTICS) ? [path.slice(ANALYTICS.length) as AnalyticsPath<PagePath>] : [],
)
