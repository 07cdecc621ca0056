/** The KubeletConfiguration in effect: defaults, then a file, then a folder of drop-ins, then flags. */
import { resolve } from 'node:path'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { idleGateLines } from '../../api/features/idle-gates.ts'
import { defaultConfiguration, type KubeletConfiguration, withDefaults } from '../../kubelet/configuration/defaults.ts'
import { mergeDropIns } from '../../kubelet/configuration/drop-ins.ts'
import { kubeletGates } from '../../kubelet/configuration/gate-faults.ts'
import { idleFieldsLine } from '../../kubelet/configuration/idle-fields.ts'
import { checkConfiguration, readConfigurationFile } from '../../kubelet/configuration/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { LogFormat } from '../../lib/log/log.ts'
import { writtenByFlags } from './flags/config-flags.ts'
import type { FlagValues } from './flags/index.ts'

export interface EffectiveConfiguration {
  readonly configuration: KubeletConfiguration
  /** The form of log lines; undefined for plain ones, if nothing names a form. */
  readonly format: LogFormat | undefined
  /** Lines for the log about settings without an effect. */
  readonly notices: readonly string[]
}

/** Throws an ExplainedError that names the file and all faults. */
export function effectiveConfiguration(flags: FlagValues): EffectiveConfiguration {
  const file = flags.text('config')
  const folder = flags.text('config-dir')
  const written = file ? readConfigurationFile(resolve(file)) : {}
  const base = file ? withDefaults(written) : defaultConfiguration
  const merged = folder ? mergeDropIns(base, resolve(folder)) : { configuration: base, fields: [] }
  const configuration = withFlags(merged.configuration, flags)
  try {
    checkConfiguration(configuration)
  } catch (error) {
    throw new ExplainedError(`failed to validate kubelet configuration: ${reasonOf(error)}`, { cause: error })
  }
  const gates = new FeatureGates(configuration.featureGates)
  return {
    configuration,
    format:
      (written.logging?.format ?? flags.text('logging-format')) === undefined ? undefined : formatOf(configuration),
    notices: [...idleFieldsLine([...Object.keys(written), ...merged.fields]), ...idleGateLines(gates, kubeletGates)],
  }
}

const formatOf = ({ logging }: KubeletConfiguration): LogFormat => (logging.format === 'json' ? 'json' : 'text')

/** Flags replace fields; in groups of fields and in feature gates they replace members. */
function withFlags(configuration: KubeletConfiguration, flags: FlagValues): KubeletConfiguration {
  const { authentication, authorization, featureGates, ...written } = writtenByFlags(flags)
  const { authentication: authenticated, authorization: authorized } = configuration
  const verbosity = flags.int('v')
  const format = flags.text('logging-format')
  return {
    ...configuration,
    ...written,
    authentication: {
      x509: { ...authenticated.x509, ...authentication?.x509 },
      webhook: { ...authenticated.webhook, ...authentication?.webhook },
      anonymous: { ...authenticated.anonymous, ...authentication?.anonymous },
    },
    authorization: {
      ...authorized,
      ...authorization,
      webhook: { ...authorized.webhook, ...authorization?.webhook },
    },
    featureGates: { ...configuration.featureGates, ...featureGates },
    logging: {
      ...configuration.logging,
      ...(verbosity !== undefined && { verbosity }),
      ...(format !== undefined && { format }),
    },
  }
}
