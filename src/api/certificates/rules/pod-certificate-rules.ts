/** Validation of PodCertificateRequests (KEP-4317). */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { V1beta1PodCertificateRequest } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import {
  type FieldError,
  fieldError,
  invalidValue,
  required,
  tooLong,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { signedRequestKey } from './signed-request.ts'
import { isKubernetesSigner, signerNameRules } from './signer-name.ts'
import { userAnnotations } from './user-annotations.ts'

type Request = Model<V1beta1PodCertificateRequest>
type Spec = Partial<NonNullable<Request['spec']>>

const maxUidLength = 128
const minSeconds = 3600
const maxSeconds = 7_862_400
/** The limit of `kubernetes.io` signers. */
const maxKubernetesSeconds = 86_400
const maxKeyBytes = 10 * 1024

export function podRequestRules(request: Request): readonly FieldError[] {
  const spec: Spec = request.spec ?? {}
  const signerName = spec.signerName ?? ''
  const errors = all(
    signerNameRules(signerName, 'spec.signerName'),
    userAnnotations(spec.unverifiedUserAnnotations ?? {}, 'spec.unverifiedUserAnnotations'),
    follows(spec.podName ?? '', 'spec.podName', dnsSubdomain),
    uidRules(spec.podUID, 'spec.podUID'),
    follows(spec.serviceAccountName ?? '', 'spec.serviceAccountName', dnsSubdomain),
    uidRules(spec.serviceAccountUID, 'spec.serviceAccountUID'),
    follows(spec.nodeName ?? '', 'spec.nodeName', dnsSubdomain),
    uidRules(spec.nodeUID, 'spec.nodeUID'),
  )
  const seconds = spec.maxExpirationSeconds
  if (seconds === undefined) return [...errors, required('spec.maxExpirationSeconds', 'must be set')]
  const most = isKubernetesSigner(signerName) ? maxKubernetesSeconds : maxSeconds
  const inRange = seconds >= minSeconds && seconds <= most
  const life = inRange
    ? valid
    : [invalidValue('spec.maxExpirationSeconds', seconds, `must be in the range [${minSeconds}, ${most}]`)]
  return all(errors, life, spec.stubPKCS10Request ? stubRules(spec) : keyRules(spec))
}

function uidRules(uid = '', path: string): readonly FieldError[] {
  if (uid === '') return [invalidValue(path, uid, 'must not be empty')]
  return uid.length > maxUidLength ? [tooLong(path, maxUidLength)] : valid
}

const keyPath = 'spec.pkixPublicKey'
const proofPath = 'spec.proofOfPossession'
const stubPath = 'spec.stubPKCS10Request'

/** Validates stubPKCS10Request, which replaces key and proof. */
function stubRules({ stubPKCS10Request = '', pkixPublicKey, proofOfPossession }: Spec): readonly FieldError[] {
  const bytes = Buffer.from(stubPKCS10Request, 'base64')
  const instead = 'must be empty if stubPKCS10Request is set'
  const errors = [
    ...(pkixPublicKey ? [invalidValue(keyPath, pkixPublicKey, instead)] : []),
    ...(proofOfPossession ? [fieldError('FieldValueInvalid', proofPath, `Invalid value: ${instead}`)] : []),
  ]
  if (bytes.length > maxKeyBytes) return [...errors, tooLong(stubPath, maxKeyBytes)]
  const key = signedRequestKey(bytes)
  if (typeof key === 'string') return [...errors, invalidValue(stubPath, stubPKCS10Request, key)]
  return all(errors, keyKindRules(key, stubPath, stubPKCS10Request))
}

/** Validates the public key, and that its private key has signed the pod's UID. */
function keyRules({ pkixPublicKey = '', proofOfPossession = '', podUID = '' }: Spec): readonly FieldError[] {
  const bytes = Buffer.from(pkixPublicKey, 'base64')
  const proof = Buffer.from(proofOfPossession, 'base64')
  if (bytes.length > maxKeyBytes) return [tooLong(keyPath, maxKeyBytes)]
  if (proof.length > maxKeyBytes) return [tooLong(proofPath, maxKeyBytes)]
  const key = publicKey(bytes)
  if (!key) return [invalidValue(keyPath, pkixPublicKey, 'must be a valid PKIX-serialized public key')]
  const kind = keyKindRules(key, keyPath, pkixPublicKey)
  if (kind.length > 0) return kind
  return isProven(key, Buffer.from(podUID), proof)
    ? valid
    : [fieldError('FieldValueInvalid', proofPath, 'Invalid value: could not verify proof-of-possession signature')]
}

/** Parses a PKIX public key (DER). Returns undefined for other input. */
export function publicKey(bytes: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: bytes, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1']
const goCurves: Readonly<Record<string, string>> = { secp224r1: 'P-224' }
const modulusBits: readonly number[] = [3072, 4096]

function keyKindRules(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  path: string,
  shown: string,
): readonly FieldError[] {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {}
  switch (asymmetricKeyType) {
    case 'ed25519':
      return valid
    case 'ec':
      if (curves.includes(namedCurve)) return valid
      return [
        invalidValue(
          path,
          `curve ${goCurves[namedCurve] ?? namedCurve}`,
          'elliptic public keys must use curve P256 or P384',
        ),
      ]
    case 'rsa': {
      const bits = Math.ceil(modulusLength / 8) * 8
      return modulusBits.includes(bits)
        ? valid
        : [invalidValue(path, `${bits}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096')]
    }
    default:
      return [invalidValue(path, shown, 'unknown public key type; supported types are Ed25519, ECDSA, and RSA')]
  }
}

/** A signature that OpenSSL cannot parse proves nothing. */
function isProven(key: KeyObject, signed: Buffer, proof: Buffer): boolean {
  try {
    return isSigned(key, signed, proof)
  } catch {
    return false
  }
}

function isSigned(key: KeyObject, signed: Buffer, proof: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, signed, key, proof)
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
  return verify('sha256', signed, { key, ...(key.asymmetricKeyType === 'rsa' && pss) }, proof)
}
