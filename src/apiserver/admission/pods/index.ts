/** Plug-ins that look at pods. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { serviceAccount } from './service-account.ts'

export const podPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  DefaultTolerationSeconds: ({ find }, { tolerationSeconds }) => defaultTolerationSeconds(find('v1/pods'), tolerationSeconds),
  ServiceAccount: ({ find }) => serviceAccount(find('v1/pods')),
}
