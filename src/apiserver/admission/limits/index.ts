/** Plug-ins that limit resource requests and the rate of events. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { eventRateLimit } from './event-rate-limit.ts'
import { limitRanger } from './limit-ranger.ts'

export const limitPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  EventRateLimit: (sources) => eventRateLimit(sources),
  LimitRanger: limitRanger,
}
