/**
 * The formats that are checked in custom resources. For strings, those that all supported versions of Kubernetes check,
 * and the two of 1.34; for numbers, as of 1.36, the type that they are decoded to. Others are documentation only, and
 * their use causes a warning.
 */
import { isInt64 } from '../../../lib/exact-json.ts'
import { own } from '../../../lib/own.ts'
import { isDuration } from './duration.ts'
import { isCidr, isEmail, isHostname, isIPv4Format, isIPv6Format, isMac, isRequestUri } from './network.ts'
import { isCreditCard, isIsbn10, isIsbn13, isUuid } from './numbers.ts'
import {
  isBase64,
  isDate,
  isDateTime,
  isHexColor,
  isLongName,
  isObjectId,
  isRgbColor,
  isShortName,
  isSsn,
} from './texts.ts'

export type FormatCheck = (text: string) => boolean
export type NumberCheck = (value: number | bigint) => boolean

const formats: Readonly<Record<string, FormatCheck>> = {
  bsonobjectid: isObjectId,
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4Format,
  ipv6: isIPv6Format,
  cidr: isCidr,
  mac: isMac,
  uuid: isUuid(''),
  uuid3: isUuid('3'),
  uuid4: isUuid('4'),
  uuid5: isUuid('5'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: isSsn,
  hexcolor: isHexColor,
  rgbcolor: isRgbColor,
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: isShortName,
  k8slongname: isLongName,
}

const float = (value: number | bigint): boolean => Number.isFinite(Math.fround(Number(value)))
const int32 = (value: number | bigint): boolean => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
const int64 = (value: number | bigint): boolean =>
  typeof value === 'bigint' ? isInt64(value) : Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63

const ranges: Readonly<Record<string, Readonly<Record<string, NumberCheck>>>> = {
  integer: { int32, int64, '': int64 },
  number: { float, double: () => true },
}

/**
 * Returns the check of a string format by its name, in which dashes are ignored (`date-time`). Returns undefined for
 * formats that are not checked.
 */
export const formatCheck = (name: string): FormatCheck | undefined => own(formats, name.replaceAll('-', ''))

/**
 * Returns the check of a number format. Integers without a format have 64 bits. Returns undefined for types and formats
 * that are not checked.
 */
export const numberCheck = (type: string, format: string): NumberCheck | undefined =>
  own(own(ranges, type) ?? {}, format)

/** Returns true if a format is checked for values of a type. Without a type, formats of strings are checked. */
export const isChecked = (type: string, format: string): boolean =>
  (type === '' || type === 'string' ? formatCheck(format) : numberCheck(type, format)) !== undefined
