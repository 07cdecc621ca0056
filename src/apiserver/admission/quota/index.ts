/** The plug-in that enforces resource quotas. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { ResourceQuota } from './resource-quota.ts'

export const quotaPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  ResourceQuota: (sources) => new ResourceQuota(sources),
}
