/** Reads KubeProxyConfigurations: decodes them strictly, fills in defaults, and validates them. */
import { readFileSync } from 'node:fs'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { decodeConfiguration } from '../../../machinery/decode/configuration.ts'
import { parseYaml, YamlError } from '../../../machinery/yaml.ts'
import type { ModeName } from '../../../network/proxy/modes/mode-registry.ts'
import { type ProxyConfiguration, withDefaults } from './defaults.ts'
import { kubeProxyConfiguration, type WrittenProxyConfiguration } from './shape.ts'
import { configurationFaults } from './validation.ts'

export type { ProxyConfiguration } from './defaults.ts'
export { hostPortOf } from './validation.ts'

/** Reads a file of YAML or JSON. Throws an ExplainedError that names it. */
export function readConfigurationFile(file: string): WrittenProxyConfiguration {
  try {
    const { value, strict } = parseYaml(readFileSync(file, 'utf8'))
    if (strict.length > 0) throw new YamlError(strict.join(', '))
    const decoded = decodeConfiguration<WrittenProxyConfiguration & { kind?: string; apiVersion?: string }>(
      value,
      kubeProxyConfiguration,
    )
    const { kind: _kind, apiVersion: _version, ...written } = decoded
    return Object.fromEntries(Object.entries(written).filter(([, field]) => field !== undefined && field !== null))
  } catch (error) {
    throw new ExplainedError(`${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Fills in the defaults. Throws an ExplainedError with all faults. */
export function checkedConfiguration(
  written: WrittenProxyConfiguration,
  bestMode: ModeName | undefined,
): ProxyConfiguration {
  const configuration = withDefaults(written, bestMode)
  const faults = configurationFaults(configuration)
  if (faults.length > 0) throw new ExplainedError(`failed validate: ${faults.join(', ')}`)
  return configuration
}
