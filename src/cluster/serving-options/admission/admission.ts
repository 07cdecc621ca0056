/** The admission flags: enabled plugins and their configuration. */
import type { AdmissionOptions } from '../../../apiserver/admission/index.ts'
import {
  admissionControlErrors,
  admissionPluginErrors,
  admissionPluginNames,
  type FlagValues,
} from '../../../apiserver/serving-flags/index.ts'
import { type FlagContext, pathOf } from '../flag-context.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'

/** Returns upstream's errors for an invalid choice of plugins; empty if there are none. */
export function admissionErrors(flags: FlagValues): string[] {
  const [all, enabled, disabled] = [
    flags.list('admission-control'),
    flags.list('enable-admission-plugins'),
    flags.list('disable-admission-plugins'),
  ]
  return [
    ...(all && (enabled || disabled)
      ? ['admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive']
      : []),
    ...admissionControlErrors(all ?? []),
    ...admissionPluginErrors(enabled, disabled),
  ]
}

/** Throws an ExplainedError for a configuration file that cannot be read. */
export function admissionOptions(context: FlagContext): AdmissionOptions {
  const { flags } = context
  const configurationFile = pathOf(context, 'admission-control-config-file')
  const all = flags.list('admission-control')
  return {
    ...(configurationFile && { configuration: readAdmissionConfiguration(configurationFile) }),
    enabled: all ?? flags.list('enable-admission-plugins'),
    disabled: all
      ? admissionPluginNames.filter((name) => !all.includes(name))
      : flags.list('disable-admission-plugins'),
    allowPrivileged: flags.bool('allow-privileged'),
    tolerationSeconds: {
      notReady: flags.int('default-not-ready-toleration-seconds'),
      unreachable: flags.int('default-unreachable-toleration-seconds'),
    },
  }
}
