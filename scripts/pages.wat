;; What is done to every character of a page, 16 bytes at a step. `scripts/kernel.js` turns this file into
;; `src/text/pages-wasm.ts`.
;;
;; Offsets are byte offsets into the memory; ranges [$from, $to) are half-open. Up to 31 bytes from $to on are loaded
;; and ignored, and up to 31 bytes behind the end of what is written are overwritten: the caller leaves that room.
(module
  (memory (export "m") 1)

  ;; UTF-8 to UTF-16 (little-endian), from $out on; returns the end of it. The bytes MUST be valid UTF-8.
  (func (export "utf16") (param $from i32) (param $to i32) (param $out i32) (result i32)
    (local $bytes v128) (local $ascii i32) (local $lead i32) (local $point i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
        ;; All 16 are widened, then as many are kept as stand before the first that is not ASCII.
        (local.set $bytes (v128.load (local.get $from)))
        (v128.store (local.get $out) (i16x8.extend_low_i8x16_u (local.get $bytes)))
        (v128.store offset=16 (local.get $out) (i16x8.extend_high_i8x16_u (local.get $bytes)))
        (local.set $ascii (i32.ctz (i32.or (i8x16.bitmask (local.get $bytes)) (i32.const 0x10000))))
        (local.set $from (i32.add (local.get $from) (local.get $ascii)))
        (local.set $out (i32.add (local.get $out) (i32.shl (local.get $ascii) (i32.const 1))))
        (loop $wide
          (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
          (local.set $lead (i32.load8_u (local.get $from)))
          (br_if $next (i32.lt_u (local.get $lead) (i32.const 0x80)))
          (if (i32.lt_u (local.get $lead) (i32.const 0xe0))
            (then
              (i32.store16 (local.get $out) (i32.or
                (i32.shl (i32.and (local.get $lead) (i32.const 0x1f)) (i32.const 6))
                (call $trail (i32.add (local.get $from) (i32.const 1)))))
              (local.set $from (i32.add (local.get $from) (i32.const 2)))
              (local.set $out (i32.add (local.get $out) (i32.const 2)))
              (br $wide)))
          (if (i32.lt_u (local.get $lead) (i32.const 0xf0))
            (then
              (i32.store16 (local.get $out) (i32.or
                (i32.shl (i32.and (local.get $lead) (i32.const 0x0f)) (i32.const 12))
                (i32.or
                  (i32.shl (call $trail (i32.add (local.get $from) (i32.const 1))) (i32.const 6))
                  (call $trail (i32.add (local.get $from) (i32.const 2))))))
              (local.set $from (i32.add (local.get $from) (i32.const 3)))
              (local.set $out (i32.add (local.get $out) (i32.const 2)))
              (br $wide)))
          ;; Beyond the first plane: a pair of surrogates.
          (local.set $point (i32.sub
            (i32.or
              (i32.or
                (i32.shl (i32.and (local.get $lead) (i32.const 0x07)) (i32.const 18))
                (i32.shl (call $trail (i32.add (local.get $from) (i32.const 1))) (i32.const 12)))
              (i32.or
                (i32.shl (call $trail (i32.add (local.get $from) (i32.const 2))) (i32.const 6))
                (call $trail (i32.add (local.get $from) (i32.const 3)))))
            (i32.const 0x10000)))
          (i32.store16 (local.get $out)
            (i32.or (i32.const 0xd800) (i32.shr_u (local.get $point) (i32.const 10))))
          (i32.store16 offset=2 (local.get $out)
            (i32.or (i32.const 0xdc00) (i32.and (local.get $point) (i32.const 0x3ff))))
          (local.set $from (i32.add (local.get $from) (i32.const 4)))
          (local.set $out (i32.add (local.get $out) (i32.const 4)))
          (br $wide))))
    ;; What lies behind $to may have been taken for ASCII.
    (i32.sub (local.get $out) (i32.shl (i32.sub (local.get $from) (local.get $to)) (i32.const 1))))

  (func $trail (param $at i32) (result i32)
    (i32.and (i32.load8_u (local.get $at)) (i32.const 0x3f)))

  ;; Copies the units of [$from, $to) to $out and puts the next number behind every newline; returns the end of what was
  ;; written. A unit is 1 byte ($shift 0) or 2 ($shift 1). The number before the first line lies in memory as units, with
  ;; its mark, from the offset that is stored at $start to $end; its last digit at $digit. It is counted up there, so the
  ;; next call goes on where this one stopped, and may grow to the left: the bytes there MUST be free and zero.
  (func (export "number")
    (param $from i32) (param $to i32) (param $out i32)
    (param $start i32) (param $end i32) (param $digit i32) (param $shift i32)
    (result i32)
    (local $low v128) (local $high v128) (local $marks i32) (local $taken i32) (local $at i32) (local $first i32)
    (local.set $first (i32.load (local.get $start)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
        ;; 16 units at a step, whatever their width.
        (local.set $low (v128.load (local.get $from)))
        (v128.store (local.get $out) (local.get $low))
        (local.set $marks (if (result i32) (local.get $shift)
          (then
            (local.set $high (v128.load offset=16 (local.get $from)))
            (v128.store offset=16 (local.get $out) (local.get $high))
            (i8x16.bitmask (i8x16.narrow_i16x8_s
              (i16x8.eq (local.get $low) (v128.const i16x8 10 10 10 10 10 10 10 10))
              (i16x8.eq (local.get $high) (v128.const i16x8 10 10 10 10 10 10 10 10)))))
          (else (i8x16.bitmask
            (i8x16.eq (local.get $low) (v128.const i8x16 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10))))))
        (local.set $taken (i32.shl
          (if (result i32) (local.get $marks)
            (then (i32.add (i32.ctz (local.get $marks)) (i32.const 1)))
            (else (i32.const 16)))
          (local.get $shift)))
        (local.set $from (i32.add (local.get $from) (local.get $taken)))
        (local.set $out (i32.add (local.get $out) (local.get $taken)))
        (br_if $next (i32.eqz (local.get $marks)))
        (br_if $done (i32.gt_u (local.get $from) (local.get $to)))
        (local.set $first (call $countUp
          (local.get $first) (local.get $digit) (i32.shl (i32.const 1) (local.get $shift))))
        ;; By 8 bytes: what was stored as single digits a moment ago is not at hand as 16.
        (local.set $at (local.get $first))
        (loop $copy
          (i64.store (local.get $out) (i64.load (local.get $at)))
          (local.set $out (i32.add (local.get $out) (i32.const 8)))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $copy (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $out (i32.sub (local.get $out) (i32.sub (local.get $at) (local.get $end))))
        (br $next)))
    (i32.store (local.get $start) (local.get $first))
    (i32.sub (local.get $out) (i32.sub (local.get $from) (local.get $to))))

  ;; Adds 1 to the decimal digits that end at $digit; a space before them becomes a digit when they need one more.
  ;; Returns where the number now begins.
  (func $countUp (param $first i32) (param $digit i32) (param $width i32) (result i32)
    (local $figure i32)
    (loop $carry
      (if (i32.lt_u (local.get $digit) (local.get $first))
        (then
          (i32.store8 (local.get $digit) (i32.const 49))
          (return (local.get $digit))))
      (local.set $figure (i32.load8_u (local.get $digit)))
      (if (i32.eq (local.get $figure) (i32.const 57))
        (then
          (i32.store8 (local.get $digit) (i32.const 48))
          (local.set $digit (i32.sub (local.get $digit) (local.get $width)))
          (br $carry))))
    (i32.store8 (local.get $digit) (if (result i32) (i32.eq (local.get $figure) (i32.const 32))
      (then (i32.const 49))
      (else (i32.add (local.get $figure) (i32.const 1)))))
    (local.get $first)))
