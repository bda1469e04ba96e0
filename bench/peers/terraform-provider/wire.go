// The parts of Protocol Buffers and MessagePack that Terraform's provider protocol needs.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// message is an encoded protobuf message. Its methods append a field.
type message []byte

func (m message) bytes(number int, value []byte) message {
	m = binary.AppendUvarint(m, uint64(number)<<3|2)
	m = binary.AppendUvarint(m, uint64(len(value)))
	return append(m, value...)
}

func (m message) text(number int, value string) message { return m.bytes(number, []byte(value)) }

func (m message) number(number int, value uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(number)<<3), value)
}

var errMessage = errors.New("the protobuf message is invalid")

// fields returns the length-delimited fields of a message by number. If a field is repeated, only its last value is kept.
func fields(data []byte) (map[int][]byte, error) {
	found := map[int][]byte{}
	for len(data) > 0 {
		tag, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errMessage
		}
		data = data[size:]
		value, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errMessage
		}
		data = data[size:]
		switch tag & 7 {
		case 0:
		case 2:
			if value > uint64(len(data)) {
				return nil, errMessage
			}
			found[int(tag>>3)], data = data[:value], data[value:]
		default:
			return nil, errMessage
		}
	}
	return found, nil
}

// unknown is a value that is known after apply.
type unknown struct{}

var errValue = errors.New("the MessagePack value is invalid")

// decode returns nil, bool, string, map[string]any or unknown, and the rest of the data.
func decode(data []byte) (any, []byte, error) {
	if len(data) == 0 {
		return nil, nil, errValue
	}
	kind, data := data[0], data[1:]
	switch {
	case kind == 0xc0:
		return nil, data, nil
	case kind == 0xc2 || kind == 0xc3:
		return kind == 0xc3, data, nil
	case kind>>4 == 0x8:
		return decodeMap(data, int(kind&0xf))
	case kind == 0xde || kind == 0xdf:
		count, data, err := decodeLength(data, 2<<(kind-0xde))
		if err != nil {
			return nil, nil, err
		}
		return decodeMap(data, count)
	case kind>>5 == 0x5:
		return decodeString(data, int(kind&0x1f))
	case kind >= 0xd9 && kind <= 0xdb:
		length, data, err := decodeLength(data, 1<<(kind-0xd9))
		if err != nil {
			return nil, nil, err
		}
		return decodeString(data, length)
	case kind >= 0xd4 && kind <= 0xd8:
		return decodeUnknown(data, 1<<(kind-0xd4))
	case kind >= 0xc7 && kind <= 0xc9:
		length, data, err := decodeLength(data, 1<<(kind-0xc7))
		if err != nil {
			return nil, nil, err
		}
		return decodeUnknown(data, length)
	}
	return nil, nil, fmt.Errorf("a MessagePack value of type %#x is not supported", kind)
}

func decodeLength(data []byte, size int) (int, []byte, error) {
	if len(data) < size {
		return 0, nil, errValue
	}
	length := 0
	for _, each := range data[:size] {
		length = length<<8 | int(each)
	}
	return length, data[size:], nil
}

func decodeString(data []byte, length int) (any, []byte, error) {
	if len(data) < length {
		return nil, nil, errValue
	}
	return string(data[:length]), data[length:], nil
}

// decodeUnknown skips the type of the extension (one byte) and its content.
func decodeUnknown(data []byte, length int) (any, []byte, error) {
	if len(data) <= length {
		return nil, nil, errValue
	}
	return unknown{}, data[length+1:], nil
}

func decodeMap(data []byte, count int) (any, []byte, error) {
	// Each entry has at least two bytes.
	if count > len(data)/2 {
		return nil, nil, errValue
	}
	entries := make(map[string]any, count)
	for ; count > 0; count-- {
		key, rest, err := decode(data)
		if err != nil {
			return nil, nil, err
		}
		name, isString := key.(string)
		if !isString {
			return nil, nil, errValue
		}
		if entries[name], data, err = decode(rest); err != nil {
			return nil, nil, err
		}
	}
	return entries, data, nil
}

// encode is the opposite of decode, for values without unknown parts.
func encode(data []byte, value any) []byte {
	switch value := value.(type) {
	case bool:
		if value {
			return append(data, 0xc3)
		}
		return append(data, 0xc2)
	case string:
		return append(encodeLength(data, len(value), 0xa0, 31, 0xda), value...)
	case map[string]any:
		data = encodeLength(data, len(value), 0x80, 15, 0xde)
		for name, each := range value {
			data = encode(encode(data, name), each)
		}
		return data
	}
	return append(data, 0xc0)
}

// encodeLength puts a short length into the type byte, and a longer one into 16 or 32 bits after it.
func encodeLength(data []byte, length int, short byte, most int, long byte) []byte {
	switch {
	case length <= most:
		return append(data, short|byte(length))
	case length <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(data, long), uint16(length))
	}
	return binary.BigEndian.AppendUint32(append(data, long+1), uint32(length))
}
