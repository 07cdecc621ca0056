/** The admission plug-in for the Pod Security Standards. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { podSecurity } from './pod-security.ts'

export const podSecurityPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  PodSecurity: podSecurity,
}
