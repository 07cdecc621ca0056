/** The admission plug-ins, in the order in which they look at a write. */
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { defaultTolerationSeconds, type TolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { Admission } from './plugin.ts'
import { serviceAccount } from './service-account.ts'

export interface AdmissionOptions {
  readonly registry: Registry
  readonly namespaces: ServedResource
  readonly pods: ServedResource
  /** Names of plug-ins that are off. */
  readonly disabled?: readonly string[]
  readonly tolerationSeconds?: TolerationSeconds
}

export function admissionChain({ registry, namespaces, pods, disabled = [], tolerationSeconds }: AdmissionOptions): Admission {
  const plugins = [namespaceLifecycle(registry, namespaces), serviceAccount(pods), defaultTolerationSeconds(pods, tolerationSeconds)]
  return new Admission(plugins.filter(({ name }) => !disabled.includes(name)))
}
