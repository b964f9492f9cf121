/** Renders the messages of a simulation one after the other, within a total time and size. */
import { loadTemplate, type StoredTemplate } from '../../messages/templates/load-template.ts'
import { renderMessage } from '../../messages/templates/render-message.ts'
import type { Renderer } from '../../messages/templates/renderer.ts'
import type { Rendering } from '../../messages/templates/template.ts'
import type { MessageValues } from '../../messages/templates/values.ts'
import type { SendStep } from '../../rules/campaigns/steps.ts'
import type { Queryable } from '../../stores/postgres.ts'

export interface RenderLimits {
  ms: number
  /** UTF-16 units. */
  size: number
}

/** Each message has its own limits, too: see `Renderer`. */
export const RENDER_LIMITS: RenderLimits = { ms: 20_000, size: 16 * 1_048_576 }

/** `beyond`: a limit of all messages together, in words. */
export type RenderedSend = Rendering | { kind: 'beyond'; limit: string }

export interface SendRenderer {
  /** `at`: epoch milliseconds. Rejects with RendererBusy when too many templates wait. */
  render(step: SendStep, at: number, values: MessageValues): Promise<RenderedSend>
}

export function createSendRenderer(
  { sql, renderer }: { sql: Queryable; renderer: Renderer },
  businessId: string,
  limits = RENDER_LIMITS,
): SendRenderer {
  const templates = new Map<string, StoredTemplate | null>()
  let [ms, size] = [0, 0]
  const load = async (templateId: string): Promise<StoredTemplate | null> => {
    const known = templates.get(templateId)
    if (known !== undefined) return known
    const loaded = await loadTemplate(sql, { businessId, templateId })
    templates.set(templateId, loaded)
    return loaded
  }
  return {
    async render(step, at, values) {
      const template = await load(step.template)
      if (template === null) return failed('the business has no such template')
      if (template.channel !== step.channel) return failed(`the template is for ${template.channel}`)
      const startedAt = performance.now()
      const rendering = await renderMessage(renderer, template, { values, language: values.contact.language, now: at })
      ms += performance.now() - startedAt
      if (rendering.kind === 'rendered') size += sizeOf(rendering.message)
      if (ms > limits.ms) return beyond(`takes more than ${limits.ms / 1000} seconds`)
      if (size > limits.size) return beyond(`has more than ${limits.size / 1_048_576} MiB`)
      return rendering
    },
  }
}

const failed = (reason: string): RenderedSend => ({ kind: 'failed', reason })
const beyond = (limit: string): RenderedSend => ({ kind: 'beyond', limit })

const sizeOf = (message: object): number =>
  Object.values(message)
    .flat()
    .reduce((sum: number, part: unknown) => sum + String(part).length, 0)
