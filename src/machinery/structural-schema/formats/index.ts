/**
 * Formats of texts that custom resources are held to: those that every supported version of Kubernetes knows, and the two of 1.34.
 * Others are documentation. Dashes in names do not count (`date-time`).
 */
import { own } from '../../../lib/own.ts'
import { isDuration } from './duration.ts'
import { isCidr, isEmail, isHostname, isIPv4Format, isIPv6Format, isMac, isRequestUri } from './network.ts'
import { isCreditCard, isIsbn10, isIsbn13, isUuid } from './numbers.ts'
import { isBase64, isDate, isDateTime, isHexColor, isLongName, isObjectId, isRgbColor, isShortName, isSsn } from './texts.ts'

export type FormatCheck = (text: string) => boolean

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

/** The check of a format by its name; undefined for formats that are not checked. */
export const formatCheck = (name: string): FormatCheck | undefined => own(formats, name.replaceAll('-', ''))
