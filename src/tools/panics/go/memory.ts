/** The memory layout of Go values: sizes, alignment and offsets of fields. */
import { type GoType, partsOf } from './types.ts'

/** Size and alignment of a type, in bytes. */
export interface TypeSize {
  readonly size: number
  readonly align: number
}

/** Returns undefined for unknown types. */
export function typeSizeOf(type: GoType, wordBytes: number): TypeSize | undefined {
  switch (type.kind) {
    case 'basic': {
      const size = type.bytes ?? wordBytes
      return { size, align: Math.min(size, wordBytes) }
    }
    case 'complex':
      return { size: type.bytes, align: Math.min(type.bytes / 2, wordBytes) }
    case 'pointer':
      return { size: wordBytes, align: wordBytes }
    case 'string':
    case 'interface':
      return { size: 2 * wordBytes, align: wordBytes }
    case 'slice':
      return { size: 3 * wordBytes, align: wordBytes }
    case 'array': {
      const element = typeSizeOf(type.element, wordBytes)
      return element && type.length !== undefined
        ? { size: element.size * type.length, align: element.align }
        : undefined
    }
    case 'struct': {
      let size = 0
      let align = 1
      for (const field of type.fields) {
        const room = typeSizeOf(field.type, wordBytes)
        if (!room) return undefined
        size = aligned(size, room.align) + room.size
        align = Math.max(align, room.align)
      }
      return { size: aligned(size, align), align }
    }
    case 'named':
      return undefined
  }
}

export const aligned = (offset: number, to: number): number => Math.ceil(offset / to) * to

/**
 * Returns the field of a struct at an offset, such as `limits.cpu`; undefined if no field begins there or the type of
 * an earlier one is unknown.
 */
export function fieldAt(type: GoType, offset: number, wordBytes: number): string | undefined {
  if (type.kind !== 'struct') return undefined
  let at = 0
  for (const field of type.fields) {
    const room = typeSizeOf(field.type, wordBytes)
    if (!room) return undefined
    at = aligned(at, room.align)
    if (offset >= at && offset < at + room.size) {
      const inner = fieldAt(field.type, offset - at, wordBytes)
      if (inner !== undefined) return `${field.name}.${inner}`
      return offset === at || partsOf(field.type) ? field.name : undefined
    }
    at += room.size
  }
  return undefined
}
