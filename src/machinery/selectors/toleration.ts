/** Tolerations: whether who has them bears a taint of a node or a device. (`Gt` and `Lt` are off in 1.36.) */

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface Toleration {
  /** Empty for all. */
  readonly key?: string
  /** `Exists` or `Equal`, which is the default. */
  readonly operator?: string
  readonly value?: string
  /** Empty for all. */
  readonly effect?: string
}

export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '')
}

/** Whether one of them bears the taint. */
export const isTolerated = (taint: Taint, tolerations: readonly Toleration[] | undefined): boolean =>
  tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false

/** A taint that keeps pods that do not tolerate it away: `NoSchedule` and `NoExecute`. */
export const keepsAway = ({ effect }: Taint): boolean => effect === 'NoSchedule' || effect === 'NoExecute'
