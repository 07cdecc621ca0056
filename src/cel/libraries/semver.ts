/** Kubernetes' library of semantic versions: `semver('1.2.3').isLessThan(semver('1.10.0'))`. */
import * as versions from '../../machinery/values/semantic-version.ts'
import type { Library } from '../library.ts'
import { declare, member, overload } from '../standard/declare.ts'
import { boolType, intType, opaqueType, stringType } from '../types.ts'
import { OpaqueValue, type Value } from '../values.ts'
import { boolOf, expectInstance, rethrowAsCelError, succeeds, textOf } from './arguments.ts'
import { scanFirstCosts } from './costs.ts'

export const semverType = opaqueType('kubernetes.Semver')

class SemverValue extends OpaqueValue {
  readonly type = semverType
  readonly version: versions.SemanticVersion
  constructor(version: versions.SemanticVersion) {
    super()
    this.version = version
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && versions.compareVersions(this.version, other.version) === 0
  }
}

/** Parses a version. `normalize` completes versions such as `v1.2`. Throws CelError. */
export const parseSemver = (text: Value | undefined, normalize = false): SemverValue =>
  new SemverValue(
    rethrowAsCelError(versions.SemanticVersionError, () =>
      (normalize ? versions.parseTolerantVersion : versions.parseSemanticVersion)(textOf(text)),
    ),
  )

const compare = (a: Value | undefined, b: Value | undefined): number =>
  versions.compareVersions(expectInstance(SemverValue, a).version, expectInstance(SemverValue, b).version)

const part = (name: 'major' | 'minor' | 'patch') =>
  declare(
    name,
    member(`semver_${name}`, [semverType], intType, (value) =>
      BigInt.asIntN(64, expectInstance(SemverValue, value).version[name]),
    ),
  )

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  types: [semverType],
  functions: [
    declare(
      'semver',
      overload('string_to_semver', [stringType], semverType, (text) => parseSemver(text), scanFirstCosts()),
      overload(
        'string_bool_to_semver',
        [stringType, boolType],
        semverType,
        (text, normalize) => parseSemver(text, boolOf(normalize)),
        scanFirstCosts(),
      ),
    ),
    declare(
      'isSemver',
      overload(
        'is_semver_string',
        [stringType],
        boolType,
        (text) => succeeds(() => parseSemver(text)),
        scanFirstCosts(),
      ),
      overload(
        'is_semver_string_bool',
        [stringType, boolType],
        boolType,
        (text, normalize) => succeeds(() => parseSemver(text, boolOf(normalize))),
        scanFirstCosts(),
      ),
    ),
    declare(
      'isGreaterThan',
      member('semver_is_greater_than', [semverType, semverType], boolType, (a, b) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      member('semver_is_less_than', [semverType, semverType], boolType, (a, b) => compare(a, b) < 0),
    ),
    declare(
      'compareTo',
      member('semver_compare_to', [semverType, semverType], intType, (a, b) => BigInt(compare(a, b))),
    ),
    part('major'),
    part('minor'),
    part('patch'),
  ],
}
