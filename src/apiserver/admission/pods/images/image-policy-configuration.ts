/**
 * ImagePolicyWebhook's section of `--admission-control-config-file`: `imagePolicy: { kubeConfigFile, allowTTL, … }`. It
 * has no apiVersion: it is older than versioned configuration.
 */
import { ExplainedError } from '../../../../lib/explained-error.ts'

export interface ImagePolicyConfiguration {
  readonly kubeConfigFile: string
  /** The time that a verdict is cached, in ms. 0 disables the cache. */
  readonly allowMs: number
  readonly denyMs: number
  /** The delay before the first retry, in ms. */
  readonly backoffMs: number
  /** Admits pods while the webhook fails. */
  readonly defaultAllow: boolean
}

interface Range {
  /** The unit of the number in the file, in ms. */
  readonly scale: number
  readonly least: number
  readonly most: number
  readonly usual: number
  readonly shown: string
}

const minute = 60_000
/** As upstream, one second is too short. */
const timeToLive = { scale: 1000, least: 2000, most: 30 * minute, shown: 'seconds, from 2 to 1800' }
const ranges = {
  retryBackoff: { scale: 1, least: 1, most: 5 * minute, usual: 500, shown: 'milliseconds, from 1 to 300000' },
  allowTTL: { ...timeToLive, usual: 5 * minute },
  denyTTL: { ...timeToLive, usual: 30_000 },
}

/** Throws an ExplainedError for an invalid configuration. */
export function imagePolicyConfiguration(given: unknown): ImagePolicyConfiguration {
  if (given === undefined) throw refused('no config specified')
  const { imagePolicy } = fieldsOf(given)
  const { kubeConfigFile, defaultAllow: allowed, ...others } = fieldsOf(imagePolicy)
  const defaultAllow = allowed ?? false
  if (typeof kubeConfigFile !== 'string' || kubeConfigFile === '')
    throw refused('imagePolicy.kubeConfigFile has to name a kubeconfig')
  if (typeof defaultAllow !== 'boolean') throw refused('imagePolicy.defaultAllow has to be true or false')
  const ms = (name: keyof typeof ranges): number => milliseconds(name, others[name], ranges[name])
  return { kubeConfigFile, defaultAllow, allowMs: ms('allowTTL'), denyMs: ms('denyTTL'), backoffMs: ms('retryBackoff') }
}

/** 0 means the default, -1 turns it off. */
function milliseconds(name: string, value: unknown, { scale, least, most, usual, shown }: Range): number {
  if (value === undefined || value === null || value === 0) return usual
  if (value === -1) return 0
  const ms = Number.isSafeInteger(value) ? Number(value) * scale : Number.NaN
  if (ms >= least && ms <= most) return ms
  throw refused(
    `imagePolicy.${name} is ${JSON.stringify(value)}, and has to be a whole number of ${shown}; -1 turns it off`,
  )
}

const refused = (why: string): ExplainedError =>
  new ExplainedError(
    `the configuration of ImagePolicyWebhook is wrong: ${why}; correct its part of the file of ` +
      '--admission-control-config-file',
  )

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  throw refused('it has to hold an object imagePolicy')
}
