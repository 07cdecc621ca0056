/** The flags about admission: which plug-ins are on, and how they are configured. */
import type { AdmissionOptions } from '../../apiserver/admission/index.ts'
import { admissionPluginErrors, type FlagValues } from '../../apiserver/serving-flags/index.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'
import { type FlagPlace, pathOf } from './flag-place.ts'

/** What upstream says about a choice of plug-ins that cannot be; empty if all is well. */
export const admissionErrors = (flags: FlagValues): string[] =>
  admissionPluginErrors(flags.list('enable-admission-plugins') ?? [], flags.list('disable-admission-plugins') ?? [])

/** Throws an ExplainedError for a configuration file that cannot be read. */
export function admissionOptions(place: FlagPlace): AdmissionOptions {
  const { flags } = place
  const configurationFile = pathOf(place, 'admission-control-config-file')
  return {
    ...(configurationFile && { configuration: readAdmissionConfiguration(configurationFile) }),
    enabled: flags.list('enable-admission-plugins'),
    disabled: flags.list('disable-admission-plugins'),
    allowPrivileged: flags.bool('allow-privileged'),
    tolerationSeconds: {
      notReady: flags.int('default-not-ready-toleration-seconds'),
      unreachable: flags.int('default-unreachable-toleration-seconds'),
    },
  }
}
