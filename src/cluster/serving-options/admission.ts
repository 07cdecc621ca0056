/** The flags about admission: which plug-ins are on, and how they are configured. */
import type { AdmissionOptions } from '../../apiserver/admission/index.ts'
import { admissionPluginErrors, type FlagValues } from '../../apiserver/serving-flags/index.ts'
import type { FlagPlace } from './flag-place.ts'

/** What upstream says about a choice of plug-ins that cannot be; empty if all is well. */
export const admissionErrors = (flags: FlagValues): string[] =>
  admissionPluginErrors(flags.list('enable-admission-plugins') ?? [], flags.list('disable-admission-plugins') ?? [])

export function admissionOptions({ flags }: FlagPlace): AdmissionOptions {
  return {
    enabled: flags.list('enable-admission-plugins'),
    disabled: flags.list('disable-admission-plugins'),
    allowPrivileged: flags.bool('allow-privileged'),
    tolerationSeconds: {
      notReady: flags.int('default-not-ready-toleration-seconds'),
      unreachable: flags.int('default-unreachable-toleration-seconds'),
    },
  }
}
