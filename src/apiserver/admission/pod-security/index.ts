/** The admission plug-in for the Pod Security Standards. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { PodSecurity } from './pod-security.ts'

export const podSecurityPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  PodSecurity: (sources) => new PodSecurity(sources),
}
