/** The KubeletConfiguration of a real node: defaults, a file, then a folder of drop-ins. */
import { resolve } from 'node:path'
import { FeatureGates } from '../../../api/features/feature-gates.ts'
import { idleGateLines } from '../../../api/features/idle-gates.ts'
import { withDefaults } from '../../../kubelet/configuration/defaults.ts'
import { mergeDropIns } from '../../../kubelet/configuration/drop-ins.ts'
import { idleFieldsLine } from '../../../kubelet/configuration/idle-fields.ts'
import {
  checkConfiguration,
  type KubeletConfiguration,
  readConfigurationFile,
} from '../../../kubelet/configuration/index.ts'
import type { WrittenConfiguration } from '../../../kubelet/configuration/shape.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import type { RealNode } from '../index.ts'

export interface NodeConfiguration {
  readonly configuration: KubeletConfiguration
  /** The names of the fields in the files. */
  readonly fields: ReadonlySet<string>
  /** Lines for the log about settings without an effect. */
  readonly notices: readonly string[]
}

/** Fields that a cluster does not leave to its real node, with the reasons. */
const clusterFields = {
  tlsCertFile: "the cluster issues the kubelet's certificate",
  tlsPrivateKeyFile: "the cluster issues the kubelet's certificate",
  serverTLSBootstrap: "the cluster issues the kubelet's certificate",
  rotateCertificates: "the cluster issues the kubelet's certificate at each start",
  'authentication.x509.clientCAFile': "clients have certificates of the cluster's authority",
  oomScoreAdj: 'the kubelet runs in the process of the cluster',
  logging: 'the kubelet logs with the cluster: use -v',
} as const

/**
 * Throws an ExplainedError that names the faulty file, or all faults. `cluster` has the fields that the cluster sets
 * for all of its nodes; files have precedence.
 */
export function nodeConfiguration(
  { configurationFile, configurationFolder }: RealNode,
  cluster: WrittenConfiguration = {},
): NodeConfiguration {
  const written = configurationFile ? readConfigurationFile(resolve(configurationFile)) : {}
  // Upstream's default refuses swap; the machine of a cluster for development often has some.
  const base = { ...withDefaults({ ...cluster, ...written }), failSwapOn: written.failSwapOn ?? false }
  const merged = configurationFolder
    ? mergeDropIns(base, resolve(configurationFolder))
    : { configuration: base, fields: [] }
  const { configuration } = merged
  const fields = new Set([...Object.keys(written), ...merged.fields])
  if (configuration.authentication.x509?.clientCAFile) fields.add('authentication.x509.clientCAFile')
  checkFields(fields)
  try {
    checkConfiguration(configuration)
  } catch (error) {
    throw new ExplainedError(`the kubelet cannot use --kubelet-config: ${reasonOf(error)}`, { cause: error })
  }
  return {
    configuration,
    fields,
    notices: [...idleFieldsLine(fields), ...idleGateLines(new FeatureGates(configuration.featureGates))],
  }
}

function checkFields(fields: ReadonlySet<string>): void {
  const faults = Object.entries(clusterFields)
    .filter(([field]) => fields.has(field))
    .map(([field, reason]) => `${field} (${reason})`)
  if (faults.length === 0) return
  throw new ExplainedError(
    `the real node cannot use these fields of --kubelet-config: ${faults.join(', ')}: leave them out, or run t8s ` +
      'kubelet',
  )
}
