/** Tolerations of taints of nodes and devices. (`Gt` and `Lt` are off in 1.36.) */

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface Toleration {
  /** Empty: all keys. */
  readonly key?: string
  /** `Exists` or `Equal`. Default: `Equal`. */
  readonly operator?: string
  readonly value?: string
  /** Empty: all effects. */
  readonly effect?: string
}

export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '')
}

/** Returns true if one of the tolerations matches the taint. */
export const isTolerated = (taint: Taint, tolerations: readonly Toleration[] | undefined): boolean =>
  tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false

/** Returns true if pods without a toleration must not be scheduled: `NoSchedule` and `NoExecute`. */
export const preventsScheduling = ({ effect }: Taint): boolean => effect === 'NoSchedule' || effect === 'NoExecute'
