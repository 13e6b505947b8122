#[dpor::test]
fn use_after_free() {
    let pointer = {
        let number = Box::new(1);
        &raw const *number
    };
    println!("{}", unsafe { *pointer });
}

#[dpor::test]
fn double_free() {
    let pointer = Box::into_raw(Box::new(1));
    unsafe {
        drop(Box::from_raw(pointer));
        drop(Box::from_raw(pointer));
    }
}

#[dpor::test]
fn out_of_bounds() {
    let numbers = [1u32, 2, 3];
    let pointer = numbers.as_ptr();
    println!("{}", unsafe { *pointer.wrapping_add(3) });
}

#[dpor::test]
fn null_pointer() {
    let pointer = std::ptr::null::<u32>();
    let _ = unsafe { pointer.read() };
}

#[dpor::test]
fn misaligned() {
    let numbers = [0u64; 2];
    let pointer = numbers.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
    println!("{}", unsafe { *pointer });
}

#[dpor::test]
fn uninitialized_read() {
    let number = std::mem::MaybeUninit::<u32>::uninit();
    if unsafe { *number.as_ptr() } > 1 {
        println!("large");
    }
}

#[dpor::test]
fn memory_leak() {
    std::mem::forget(vec![1, 2, 3]);
}

#[dpor::test]
fn undefined_behavior() {
    let number = 2u8;
    let boolean = unsafe { *(&raw const number).cast::<bool>() };
    println!("{boolean}");
}

#[dpor::test]
fn abort() {
    std::process::abort();
}
